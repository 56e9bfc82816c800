// After kills, stops and damage, a training resumes and ends with the bytes of
// an uninterrupted one.
//
// INFEED_KILLS, INFEED_STOPS and INFEED_RESUMES say how often; ./dev long asks
// for 100, 50 and 20.

#include <signal.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "base/atomic_file.h"
#include "tests/support/matchers.h"
#include "tests/support/memory_disk.h"
#include "tests/support/running_program.h"
#include "tests/support/shard_builder.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/train_resnet.h"
#include "trainer/checkpoint/checkpoint.h"
#include "trainer/results/model_dir.h"

namespace infeed {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kSteps = 20;
constexpr std::int64_t kMaxBytes = 1 << 24;

int HowOften(const char* variable, int otherwise) {
  const char* const asked = std::getenv(variable);
  return asked != nullptr ? std::atoi(asked) : otherwise;
}

// LeNet on 16 small images, a checkpoint after each of its steps.
class CheckpointKillTest : public testing::Test {
 protected:
  static void SetUpTestSuite() { UseMemoryDisk(); }

  CheckpointKillTest() {
    WriteShard(data_, "train", PayloadsOfFourClasses(16));
  }

  [[nodiscard]] std::vector<std::string> Arguments(
      const std::string& model) const {
    return ShellWords(
        "--mode train --device cpu --data_dir " + data_.path() +
        " --model_dir " + (models_ / model) +
        " --params_override model=lenet,image_size=28,recipe=plain,"
        "precision=float32,train_batch_size=8,iterations_per_loop=1,"
        "steps_per_checkpoint=1,keep_last=100,train_steps=" +
        std::to_string(kSteps));
  }

  // Runs to the end.
  void Train(const std::string& model,
             const std::vector<std::string>& more = {}) const {
    std::vector<std::string> arguments = Arguments(model);
    arguments.insert(arguments.end(), more.begin(), more.end());
    ASSERT_THAT(RunTrainResnet(arguments), Ends(0));
  }

  // The tensors' files of a model's last step, byte for byte.
  [[nodiscard]] std::string LastBytes(const std::string& model) const {
    const std::string folder = CheckpointFolder(models_ / model, kSteps);
    return ReadWholeFile(PathIn(folder, kModelFile), kMaxBytes) +
           ReadWholeFile(PathIn(folder, kOptimizerFile), kMaxBytes);
  }

  // How long a program takes, from its start to its end.
  std::chrono::duration<double> TimedStraightRun() const {
    const auto start = std::chrono::steady_clock::now();
    RunningProgram program("train_resnet", Arguments("straight"));
    EXPECT_EQ(program.Wait(), 0) << program.err();
    return std::chrono::steady_clock::now() - start;
  }

  // Runs again and again, with a signal at a moment that is another each time,
  // until so many found the program running.
  void Signal(int signal, int times, const std::string& model) {
    const std::chrono::duration<double> longest = TimedStraightRun();
    for (int done = 0; done < times;) {
      RunningProgram program("train_resnet", Arguments(model));
      std::this_thread::sleep_for(longest * (random_() % 1000) / 1000);
      program.Signal(signal);
      const int code = program.Wait();
      std::vector<std::string> damaged;
      const auto newest = LoadNewestCheckpoint(models_ / model, damaged);
      ASSERT_THAT(damaged, IsEmpty());
      if (code == 0) {  // It was faster: begin anew.
        ASSERT_EQ(LastBytes(model), LastBytes("straight"));
        fs::remove_all(models_ / model);
        continue;
      }
      ASSERT_THAT(code, AnyOf(128 + signal, 75)) << program.err();
      ++done;
    }
    Train(model);
    EXPECT_EQ(LastBytes(model), LastBytes("straight"));
  }

  TemporaryFolder data_;
  TemporaryFolder models_;
  std::mt19937 random_{7};
};

TEST_F(CheckpointKillTest, GoesOnToTheSameBytesAfterKills) {
  Signal(SIGKILL, HowOften("INFEED_KILLS", 2), "killed");
}

TEST_F(CheckpointKillTest, GoesOnToTheSameBytesAfterStops) {
  Signal(SIGTERM, HowOften("INFEED_STOPS", 1), "stopped");
}

// Parameters, buffers and momentum.
TEST_F(CheckpointKillTest, GoesOnFromAnyStepToTheSameBytes) {
  Train("straight");
  const int times = HowOften("INFEED_RESUMES", 2);
  for (int i = 0; i < times; ++i) {
    const auto step = static_cast<std::int64_t>(1 + random_() % (kSteps - 1));
    const std::string model = "resumed-" + std::to_string(i);
    Train(model, {"--resume", CheckpointFolder(models_ / "straight", step)});
    ASSERT_EQ(LastBytes(model), LastBytes("straight")) << "from " << step;
  }
}

TEST_F(CheckpointKillTest, WritesTheSameBesideTheTraining) {
  Train("straight");
  Train("beside", {"--use_async_checkpointing=true"});
  EXPECT_EQ(LastBytes("beside"), LastBytes("straight"));
  EXPECT_THAT(ListCheckpoints(models_ / "beside"), SizeIs(kSteps));
}

}  // namespace
}  // namespace infeed

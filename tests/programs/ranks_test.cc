// Trainings of several processes, started in every way: they have the samples
// and losses of one process, and when one process ends, all end.
//
// INFEED_KILLS: how often a rank is killed; ./dev long sets 20.

#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include <nlohmann/json.hpp>

#include "base/atomic_file.h"
#include "tests/support/environment_variable.h"
#include "tests/support/matchers.h"
#include "tests/support/metrics_lines.h"
#include "tests/support/rank_programs.h"
#include "tests/support/run_program.h"
#include "tests/support/shard_builder.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/train_resnet.h"
#include "trainer/checkpoint/checkpoint.h"

namespace infeed {
namespace {

namespace fs = std::filesystem;

// LeNet, which has no batch norm, on 24 small images in batches of 12, which 1
// to 4 ranks can share; 7 images to evaluate, which they cannot.
class RanksTest : public testing::Test {
 protected:
  static constexpr const char* kSmall =
      "model=lenet,image_size=28,recipe=plain,precision=float32,"
      "train_batch_size=12,eval_batch_size=4,iterations_per_loop=2,"
      "base_learning_rate=0.1,learning_rate_schedule=constant,"
      "steps_per_eval=4,train_steps=";

  RanksTest() {
    WriteShard(data_, "train", PayloadsOfFourClasses(24));
    WriteShard(data_, "validation", PayloadsOfFourClasses(7));
  }

  [[nodiscard]] std::string Model(const std::string& name) const {
    return models_ / name;
  }

  [[nodiscard]] Arguments ArgumentsOf(const std::string& model, int steps,
                                      const Arguments& more = {}) const {
    Arguments arguments = {"--model_dir",       Model(model),
                           "--params_override", kSmall + std::to_string(steps),
                           "--device",          "cpu"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    if (std::ranges::find(more, "--data_dir") == more.end()) {
      arguments.insert(arguments.end(), {"--data_dir", data_.path()});
    }
    return arguments;
  }

  // The command of a launcher whose two ranks train until they are stopped.
  [[nodiscard]] Arguments Endless(const std::string& model) const {
    return ArgumentsOf(model, 100000,
                       {"--mode", "train", "--local_ranks", "2"});
  }

  // In one process, or with --local_ranks; to the end.
  [[nodiscard]] ProgramResult Train(const std::string& model, int steps,
                                    const Arguments& more = {}) const {
    return RunTrainResnet(ArgumentsOf(model, steps, more));
  }

  [[nodiscard]] std::map<int, nlohmann::json> Metrics(
      const std::string& model, const std::string& event) const {
    return MetricsLines(Model(model), event);
  }

  void ExpectSameNumbers(const std::string& one, const std::string& other,
                         const std::string& event, std::size_t lines) const {
    const auto expected = Metrics(one, event);
    const auto actual = Metrics(other, event);
    ASSERT_EQ(expected.size(), lines);
    ASSERT_EQ(actual.size(), lines);
    for (const auto& [step, values] : expected) {
      const double loss = values["loss"];
      EXPECT_NEAR(actual.at(step)["loss"].get<double>(), loss, 1e-5 * loss)
          << other << ", " << event << " at step " << step;
      EXPECT_NEAR(actual.at(step)["top_1"].get<double>(),
                  values["top_1"].get<double>(), 1e-6);
      EXPECT_EQ(actual.at(step).value("images", 0), values.value("images", 0));
    }
  }

  void ExpectSameTraining(const std::string& one, const std::string& other,
                          int steps) const {
    ExpectSameNumbers(one, other, "train", static_cast<std::size_t>(steps));
    ExpectSameNumbers(one, other, "eval", static_cast<std::size_t>(steps / 4));
  }

  TemporaryFolder data_;
  TemporaryFolder models_;
};

TEST_F(RanksTest, LocalRanksTrainAsOneProcess) {
  ASSERT_EQ(Train("one", 8).exit_code, 0);
  for (const std::string ranks : {"2", "4"}) {
    const ProgramResult run =
        Succeeded(Train("ranks-" + ranks, 8, {"--local_ranks", ranks}));
    ExpectSameTraining("one", "ranks-" + ranks, 8);
    EXPECT_THAT(run.out, HasSubstr("step 8  top-1 "));
    EXPECT_EQ(run.out.find("step 8"), run.out.rfind("step 8")) << run.out;
    EXPECT_THAT(run.err, HasSubstr("rank 0 of " + ranks));
    EXPECT_THAT(run.err, Not(HasSubstr("rank 1 of " + ranks)));
  }
}

// Three ranks share seven images to evaluate: each is seen once.
TEST_F(RanksTest, RanksStartedByHandTrainAsOneProcess) {
  ASSERT_EQ(Train("one", 4).exit_code, 0);
  RanksByHand ranks(3);
  ranks.StartAll(ArgumentsOf("hand", 4));
  for (std::size_t rank = 0; rank < 3; ++rank) {
    EXPECT_EQ(ranks[rank].Wait(), 0) << ranks[rank].err();
  }
  ExpectSameTraining("one", "hand", 4);
  EXPECT_EQ(Metrics("hand", "eval").at(4)["images"], 7);
  EXPECT_TRUE(Metrics("hand", "loop").at(4).contains("input_wait_of_ranks"));
  EXPECT_THAT(ranks[1].err(), IsEmpty());
}

TEST_F(RanksTest, AnotherNumberOfRanksResumesTheRun) {
  ASSERT_EQ(Train("one", 8).exit_code, 0);
  ASSERT_EQ(Train("two", 4, {"--local_ranks", "2"}).exit_code, 0);
  for (const std::string ranks : {"1", "2", "3"}) {
    const std::string model = "then-" + ranks;
    fs::copy(Model("two"), Model(model), fs::copy_options::recursive);
    ASSERT_THAT(Train(model, 8, {"--local_ranks", ranks}),
                Ends(0, HasSubstr("resuming from the checkpoint at step 4")));
    ExpectSameTraining("one", model, 8);
  }
}

TEST_F(RanksTest, AllStopWhereOneIsAsked) {
  RanksByHand ranks(2);
  ranks.StartAll(ArgumentsOf("stopped", 100000, {"--mode", "train"}));
  ASSERT_TRUE(ranks[0].ReadUntil("step 1/")) << ranks[0].err();
  ranks[1].Signal(SIGTERM);
  EXPECT_EQ(ranks[0].Wait(), 75) << ranks[0].err();
  EXPECT_EQ(ranks[1].Wait(), 75) << ranks[1].err();
  EXPECT_THAT(ranks[0].err(), HasSubstr("the same command resumes from there"));
  EXPECT_THAT(ListCheckpoints(Model("stopped")), SizeIs(1));
}

// Started anew or not: `ps` shows the program's name, and a rank inherits what
// the launcher found to be set.
TEST_F(RanksTest, RanksHaveTheProgramsNameAndWaitPolicy) {
  const EnvironmentVariable restored("OMP_WAIT_POLICY", "");
  ::unsetenv("OMP_WAIT_POLICY");
  LaunchedRanks run(Endless("named"));
  std::vector<pid_t> processes = run.ranks();
  processes.push_back(run.launcher().process());
  for (const pid_t process : processes) {
    const std::string folder = "/proc/" + std::to_string(process);
    EXPECT_EQ(TextOf(folder + "/comm"), "train_resnet\n");
    const std::string variables = TextOf(folder + "/environ");
    for (const std::string setting :
         {"OMP_WAIT_POLICY=passive", "GOMP_SPINCOUNT=1000"}) {
      EXPECT_THAT(variables, HasSubstr(setting));
      EXPECT_EQ(variables.find(setting), variables.rfind(setting));
    }
  }
}

// At any moment, while they start too: where rank 0 is killed before it
// listens, the others end once their time is over.
TEST_F(RanksTest, OthersEndWhenOneIsKilled) {
  const char* const asked = std::getenv("INFEED_KILLS");
  const int kills = asked != nullptr ? std::atoi(asked) : 3;
  std::mt19937 random(7);
  for (int i = 0; i < kills; ++i) {
    RanksByHand ranks(3);
    ranks.StartAll(ArgumentsOf("killed-" + std::to_string(i), 100000,
                               {"--mode", "train", "--rank_timeout", "5"}));
    std::this_thread::sleep_for(std::chrono::milliseconds(random() % 4000));
    const std::size_t killed = random() % 3;
    ranks[killed].Signal(SIGKILL);
    EXPECT_EQ(ranks[killed].Wait(), 128 + SIGKILL);
    for (std::size_t rank = 0; rank < 3; ++rank) {
      if (rank != killed) {
        EXPECT_EQ(ranks[rank].Wait(), 1) << ranks[rank].err();
        EXPECT_THAT(ranks[rank].err(), HasSubstr("train_resnet: "));
      }
    }
  }
}

TEST_F(RanksTest, TheLauncherEndsWhenARankIsKilled) {
  LaunchedRanks run(Endless("killed"));
  ASSERT_THAT(run.ranks(), SizeIs(2));
  ::kill(run.ranks()[1], SIGKILL);
  EXPECT_EQ(run.launcher().Wait(), 1);
  EXPECT_THAT(run.launcher().err(), HasSubstr("rank 1 was ended by signal 9"));
  for (const pid_t rank : run.ranks()) {
    EXPECT_NE(::kill(rank, 0), 0) << "a rank is left";
  }
}

TEST_F(RanksTest, RanksEndWithTheirLauncher) {
  LaunchedRanks run(Endless("killed"));
  run.launcher().Signal(SIGKILL);
  // Its stderr is the ranks' too: it ends once they have.
  EXPECT_EQ(run.launcher().Wait(), 128 + SIGKILL);
}

TEST_F(RanksTest, ARankThatFailsTellsTheOthersWhy) {
  RanksByHand ranks(2);
  const TemporaryFolder empty;
  ranks.Start(0, ArgumentsOf("model", 4));
  ranks.Start(1, ArgumentsOf("model", 4, {"--data_dir", empty.path()}));
  EXPECT_EQ(ranks[1].Wait(), 2);
  EXPECT_THAT(ranks[1].err(), HasSubstr("train_resnet: rank 1: "));
  EXPECT_EQ(ranks[0].Wait(), 1);
  EXPECT_THAT(ranks[0].err(),
              HasSubstr("rank 1 failed: data_dir=" + empty.path()));
}

TEST_F(RanksTest, RefuseOtherParametersThanRankZeros) {
  RanksByHand ranks(2);
  ranks.Start(0, ArgumentsOf("model", 4));
  ranks.Start(1, ArgumentsOf("model", 4, {"--learning_rate_scaling", "none"}));
  for (const std::size_t rank : {0, 1}) {
    EXPECT_EQ(ranks[rank].Wait(), 1);
    EXPECT_THAT(ranks[rank].err(),
                HasSubstr("parameters of rank 1 differ from those of rank 0"));
  }
  EXPECT_FALSE(fs::exists(Model("model")));
}

TEST_F(RanksTest, ARankStartsNoRanks) {
  const EnvironmentVariable rank("RANK", "0");
  const EnvironmentVariable world("WORLD_SIZE", "2");
  EXPECT_THAT(Train("model", 4, {"--local_ranks", "2"}),
              Ends(2, HasSubstr("--local_ranks=2: it starts ranks itself")));
}

TEST_F(RanksTest, OneOfThemDoesWhatIsForOne) {
  const ProgramResult doctor =
      Succeeded(RunProgram("train_resnet", "--mode doctor --local_ranks 2"));
  EXPECT_NE(doctor.out.find("versions"), std::string::npos);
  EXPECT_EQ(doctor.out.find("versions"), doctor.out.rfind("versions"));
}

}  // namespace
}  // namespace infeed

// Kills and full disks at every single call of a save.

#include <signal.h>
#include <sys/wait.h>

#include <cerrno>
#include <cstdlib>
#include <string>
#include <vector>

#include "base/atomic_file.h"
#include "tests/support/made_checkpoint.h"
#include "tests/support/matchers.h"
#include "tests/support/memory_disk.h"
#include "tests/support/temporary_folder.h"
#include "trainer/checkpoint/save.h"
#include "trainer/results/model_dir.h"

namespace infeed {
namespace {

constexpr int kKilled = 128 + SIGKILL;
constexpr int kMaxCalls = 200;

struct Fault {
  std::string name;
  int error;          // 0: a kill
  std::int64_t step;  // that is saved: 2 is there already
};

class CheckpointFaultsTest : public testing::TestWithParam<Fault> {
 protected:
  static void SetUpTestSuite() { UseMemoryDisk(); }

  // Saves a step beside the steps 1 and 2, with a fault at a call. The exit
  // code, as a shell says it.
  int SaveWithFault(const std::string& model_dir, int call) const {
    for (const std::int64_t step : {1, 2}) {
      SaveCheckpoint(model_dir, MadeCheckpoint(step), {.last = 2});
    }
    const std::string command =
        "FAULT_UNDER=" + model_dir + " FAULT_AT=" + std::to_string(call) +
        " FAULT_ERRNO=" + std::to_string(GetParam().error) +
        " LD_PRELOAD=" INFEED_FILE_FAULTS " " INFEED_SAVE_CHECKPOINT " " +
        model_dir + " " + std::to_string(GetParam().step) + " 2>" +
        (messages_ / "err");
    const int status = std::system(command.c_str());
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }

  TemporaryFolder messages_;
};

TEST_P(CheckpointFaultsTest, NeverLeaveAnythingUnreadable) {
  int faults = 0;
  for (int call = 1; call < kMaxCalls; ++call) {
    const TemporaryFolder model;
    const int code = SaveWithFault(model.path(), call);
    std::vector<std::string> damaged;
    const auto newest = LoadNewestCheckpoint(model.path(), damaged);
    ASSERT_THAT(damaged, IsEmpty()) << "call " << call;
    ASSERT_TRUE(newest) << "call " << call;
    ASSERT_THAT(newest->step, AnyOf(2, GetParam().step)) << "call " << call;
    ASSERT_EQ(newest->state.model, MadeCheckpoint(newest->step).state.model);
    // The next save clears what is left up.
    SaveCheckpoint(model.path(), MadeCheckpoint(4), {.last = 1});
    ASSERT_THAT(NamesInFolder(model.path()),
                ElementsAre("checkpoint-00000004"));
    if (code == 0) {
      break;  // There are no more calls.
    }
    ++faults;
    ASSERT_EQ(code, GetParam().error == 0 ? kKilled : 1) << "call " << call;
    if (GetParam().error != 0) {
      ASSERT_THAT(ReadWholeFile(messages_ / "err", 10'000),
                  testing::HasSubstr("No space left on device"));
    }
  }
  EXPECT_GT(faults, 15);
  EXPECT_LT(faults, kMaxCalls - 1);
}

INSTANTIATE_TEST_SUITE_P(
    All, CheckpointFaultsTest,
    testing::Values(Fault{"KillsOfANewStep", 0, 3},
                    Fault{"KillsOfTheSameStep", 0, 2},
                    Fault{"FullDisksOfANewStep", ENOSPC, 3},
                    Fault{"FullDisksOfTheSameStep", ENOSPC, 2}),
    [](const auto& fault) { return fault.param.name; });

}  // namespace
}  // namespace infeed

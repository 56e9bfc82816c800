// How the threads of train_resnet's OpenMP runtime wait, as the runtime itself
// prints it when it is loaded.

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <string>

#include "base/atomic_file.h"
#include "tests/support/environment_variable.h"
#include "tests/support/matchers.h"
#include "tests/support/run_program.h"
#include "tests/support/temporary_folder.h"

namespace infeed {
namespace {

class WaitPolicyTest : public testing::Test {
 protected:
  WaitPolicyTest() { ::unsetenv("OMP_WAIT_POLICY"); }

  static std::string Shown() {
    const ProgramResult run =
        Succeeded(RunProgram("train_resnet", "--version"));
    return run.err;
  }

  EnvironmentVariable policy_{"OMP_WAIT_POLICY", ""};  // put back at the end
  EnvironmentVariable show_{"OMP_DISPLAY_ENV", "verbose"};
};

TEST_F(WaitPolicyTest, HasShortSpinsBeforeTheRuntimeIsLoaded) {
  const std::string shown = Shown();
  EXPECT_THAT(shown, HasSubstr("OMP_WAIT_POLICY = 'PASSIVE'"));
  EXPECT_THAT(shown, HasSubstr("GOMP_SPINCOUNT = '1000'"));
  EXPECT_EQ(shown.find("DISPLAY ENVIRONMENT BEGIN"),
            shown.rfind("DISPLAY ENVIRONMENT BEGIN"))
      << "it was loaded twice";
}

TEST_F(WaitPolicyTest, TheUsersPolicyIsKept) {
  {
    const EnvironmentVariable active("OMP_WAIT_POLICY", "active");
    EXPECT_THAT(Shown(), HasSubstr("OMP_WAIT_POLICY = 'ACTIVE'"));
  }
  ::unsetenv("OMP_WAIT_POLICY");
  const EnvironmentVariable spins("GOMP_SPINCOUNT", "2000");
  const std::string shown = Shown();
  EXPECT_THAT(shown, HasSubstr("GOMP_SPINCOUNT = '2000'"));
}

TEST_F(WaitPolicyTest, KeepsTheNameThatTheProgramWasCalledBy) {
  const TemporaryFolder folder;
  const std::string command = "bash -c 'exec -a called " INFEED_PROGRAMS
                              "/train_resnet --no_such_flag' 2>" +
                              (folder / "err");
  EXPECT_NE(std::system(command.c_str()), 0);
  EXPECT_THAT(ReadWholeFile(folder / "err", 1 << 20),
              HasSubstr("called: unknown flag '--no_such_flag'"));
}

// The program is the loader's argument then, and the process the loader's.
TEST_F(WaitPolicyTest, LeavesAProgramThatTheLoaderStartsAlone) {
  const std::string loader = "/lib64/ld-linux-x86-64.so.2";
  if (!std::filesystem::exists(loader)) {
    GTEST_SKIP() << "no " << loader;
  }
  const std::string command =
      loader + " " INFEED_PROGRAMS "/train_resnet --version >/dev/null 2>&1";
  EXPECT_EQ(std::system(command.c_str()), 0);
}

// OpenBLAS's constructor would try for ever, with the signals blocked.
TEST(LimitedMemoryTest, TooLittleMemoryIsAnErrorBeforeLibrariesStart) {
  const ProgramResult run =
      RunProgram("train_resnet", "--version", "ulimit -d 200000;");
  // A wheel's CUDA libraries alone may be too large to be loaded.
  if (run.err.find("error while loading shared libraries") !=
      std::string::npos) {
    EXPECT_EQ(run.exit_code, 127);
    return;
  }
  EXPECT_EQ(run.exit_code, 1);
  EXPECT_EQ(run.err,
            "train_resnet: out of memory: LibTorch cannot start under this "
            "limit on memory (ulimit -v, ulimit -d)\n");
}

}  // namespace
}  // namespace infeed

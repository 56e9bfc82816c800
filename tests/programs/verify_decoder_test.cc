#include "base/atomic_file.h"
#include "preprocess/pixels/simd_target.h"
#include "tests/support/environment_variable.h"
#include "tests/support/matchers.h"
#include "tests/support/run_program.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/test_jpeg.h"

namespace infeed {
namespace {

TEST(VerifyDecoderTest, ComparesOnEachTargetAndSumsUp) {
  const TemporaryFolder folder;
  WriteFileAtomically(folder / "a.jpg", TestJpeg());
  WriteFileAtomically(folder / "b.jpg", "no JPEG");
  const ProgramResult result =
      Succeeded(RunProgram("verify_decoder", folder.path() + " --windows 9"));
  const std::size_t targets = SupportedSimdTargets().size();
  for (const std::string& target : CompiledSimdTargets()) {
    EXPECT_THAT(result.out, HasSubstr(target + ": "));
  }
  EXPECT_THAT(
      result.out,
      HasSubstr("PORTABLE: 2 images, equal 21 of 21 windows (11 through "
                "an index), refused by both 1, fast path 95.2 %, "
                "hash "));
  const std::string all = std::to_string(21 * targets);
  EXPECT_THAT(result.out, EndsWith("\nequal " + all + " of " + all +
                                   " windows, fast path 95.2 %\n"));
  EXPECT_THAT(result.err, HasSubstr("windows/s  ETA "));
}

TEST(VerifyDecoderTest, TakesTargetsThreadsAndTheFolderOfBenchmarks) {
  const TemporaryFolder folder;
  WriteFileAtomically(folder / "a.jpg", TestJpeg());
  const auto out = [](const std::string& flags) {
    return RunProgram("verify_decoder",
                      flags + " --windows 9 --targets PORTABLE")
        .out;
  };
  const std::string one = out(folder.path() + " --threads 1");
  EXPECT_THAT(one, MatchesRegex("PORTABLE: .*\nequal 20 of 20 windows.*\n"));
  EXPECT_EQ(out(folder.path() + " --threads 3"), one);
  const EnvironmentVariable variable("INFEED_DATA_DIR", folder.path());
  EXPECT_THAT(out(""), HasSubstr("equal 20 of 20 windows"));
}

TEST(VerifyDecoderTest, SaysWhatIsWrong) {
  const TemporaryFolder folder;
  EXPECT_THAT(RunProgram("verify_decoder", folder.path()).err,
              EndsWith("holds no JPEG files and no shards\n"));
  EXPECT_EQ(
      RunProgram("verify_decoder", folder.path() + " --targets MMX").exit_code,
      2);
}

}  // namespace
}  // namespace infeed

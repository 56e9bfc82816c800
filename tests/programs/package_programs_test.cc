// The one file with all programs of the Python package.

#include <filesystem>
#include <string>

#include "tests/support/matchers.h"
#include "tests/support/run_program.h"
#include "tests/support/temporary_folder.h"

namespace infeed {
namespace {

constexpr const char* kFile = "package_programs";

class PackageProgramsTest : public testing::TestWithParam<const char*> {};

TEST_P(PackageProgramsTest, AreChosenByTheFirstWord) {
  const std::string program = GetParam();
  EXPECT_THAT(Succeeded(RunProgram(kFile, program + " --version")).out,
              StartsWith(program + " (infeed) "));
  EXPECT_THAT(RunProgram(kFile, program + " --no_such_flag"),
              Ends(2, StartsWith(program + ": unknown flag '--no_such_flag'")));
}

TEST_P(PackageProgramsTest, AreChosenByTheNameOfALink) {
  const std::string program = GetParam();
  const TemporaryFolder folder;
  const std::string link = folder / program;
  std::filesystem::create_symlink(std::string(INFEED_PROGRAMS "/") + kFile,
                                  link);
  EXPECT_THAT(Succeeded(RunProgram(link, "--help")).out,
              HasSubstr("\nUsage: " + program));
}

INSTANTIATE_TEST_SUITE_P(Programs, PackageProgramsTest,
                         testing::Values("imagenet_to_records", "input_worker",
                                         "pipeline_throughput", "records"));

TEST(UnknownPackageProgramTest, IsAnErrorThatNamesThePrograms) {
  for (const char* const words : {"", "recs", "--help"}) {
    const ProgramResult result = RunProgram(kFile, words);
    EXPECT_EQ(result.exit_code, 2) << words;
    EXPECT_EQ(result.out, "") << words;
    EXPECT_EQ(result.err,
              "package_programs: the first word must be a program's name: "
              "imagenet_to_records, input_worker, pipeline_throughput, "
              "records\n")
        << words;
  }
}

}  // namespace
}  // namespace infeed

#include <filesystem>
#include <string>

#include "tests/support/run_program.h"
#include "tests/support/temporary_folder.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace infeed {
namespace {

using ::testing::HasSubstr;

TEST(MakeDemoImagesTest, MakesWhatTheConverterTakes) {
  const TemporaryFolder folder;
  const ProgramResult made =
      RunProgram("make_demo_images", "--output " + (folder / "raw") +
                                         " --train 30 --validation 10");
  ASSERT_EQ(made.exit_code, 0) << made.err;
  EXPECT_THAT(made.out, HasSubstr("30 training and 10 validation images"));
  const ProgramResult converted =
      RunProgram("imagenet_to_records", "--raw_data_dir " + (folder / "raw") +
                                            " --local_scratch_dir " +
                                            (folder / "records"));
  ASSERT_EQ(converted.exit_code, 0) << converted.err;
  EXPECT_THAT(converted.out, HasSubstr("10 classes"));
}

TEST(MakeDemoImagesTest, ShowsNoControlCharacters) {
  const TemporaryFolder folder;
  const ProgramResult made =
      RunProgram("make_demo_images", "--output '" + (folder / "a\x1b[31m\nb") +
                                         "' --train 1 --validation 0");
  EXPECT_EQ(made.exit_code, 0) << made.err;
  EXPECT_THAT(made.out, HasSubstr("/a\\x1b[31m\\x0ab\n"));
}

}  // namespace
}  // namespace infeed

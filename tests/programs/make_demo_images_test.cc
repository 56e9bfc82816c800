
#include "tests/support/matchers.h"
#include "tests/support/run_program.h"
#include "tests/support/temporary_folder.h"

namespace infeed {
namespace {

TEST(MakeDemoImagesTest, MakesWhatTheConverterTakes) {
  const TemporaryFolder folder;
  EXPECT_THAT(Succeeded(RunProgram("make_demo_images",
                                   "--output " + (folder / "raw") +
                                       " --train 30 --validation 10"))
                  .out,
              HasSubstr("30 training and 10 validation images"));
  EXPECT_THAT(
      Succeeded(RunProgram("imagenet_to_records",
                           "--raw_data_dir " + (folder / "raw") +
                               " --local_scratch_dir " + (folder / "records")))
          .out,
      HasSubstr("10 classes"));
}

TEST(MakeDemoImagesTest, ShowsNoControlCharacters) {
  const TemporaryFolder folder;
  EXPECT_THAT(Succeeded(RunProgram("make_demo_images",
                                   "--output '" + (folder / "a\x1b[31m\nb") +
                                       "' --train 1 --validation 0"))
                  .out,
              HasSubstr("/a\\x1b[31m\\x0ab\n"));
}

}  // namespace
}  // namespace infeed

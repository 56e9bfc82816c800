// Converts and uploads, against an object server of the tests' own.

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/atomic_file.h"
#include "tests/support/cloud_fixture.h"
#include "tests/support/image_folder.h"
#include "tests/support/object_server.h"
#include "tests/support/run_program.h"

namespace infeed {
namespace {

using testing::AllOf;
using testing::HasSubstr;

class UploadTest : public CloudFixture {
 protected:
  UploadTest() {
    raw_.JpegsIn("raw/train/cat", 5).JpegsIn("raw/validation/cat", 3);
  }

  ProgramResult Convert(const std::string& more) {
    return RunProgram("imagenet_to_records",
                      "--raw_data_dir " + (raw_ / "raw") +
                          " --local_scratch_dir " + (raw_ / "out") +
                          " --layout reference --shards 2 " + more);
  }
  [[nodiscard]] std::string Local(const std::string& name) const {
    return ReadWholeFile(raw_ / "out" + "/" + name, 1 << 20);
  }

  ImageFolder raw_;
};

// The reference's command line.
TEST_F(UploadTest, PutsShardsSideBySideInABucket) {
  const std::string flags =
      "--project p --gcs_output_path gs://gs-shards/images";
  const ProgramResult result = Convert(flags);
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out,
              HasSubstr("4 shards were uploaded to gs://gs-shards/images/"));
  EXPECT_EQ(server_.Get("gs-shards/images/train-00001-of-00002"),
            Local("train/train-00001-of-00002"));
  EXPECT_EQ(server_.Get("gs-shards/images/labels.txt"), "cat\n");
  EXPECT_EQ(server_.Get("gs-shards/images/dataset.json"),
            Local("dataset.json"));

  EXPECT_THAT(Convert(flags).out, AllOf(HasSubstr("0 shards were uploaded"),
                                        HasSubstr("4 shards were there")));
  server_.Put("gs-shards/images/train-00001-of-00002", "cut");
  EXPECT_THAT(Convert(flags).out, HasSubstr("1 shard was uploaded"));
  EXPECT_EQ(server_.Get("gs-shards/images/train-00001-of-00002"),
            Local("train/train-00001-of-00002"));
}

TEST_F(UploadTest, TakesS3AsWellAndTasks) {
  const std::string url = "--gcs_output_path s3://shards/a/b/ ";
  for (const char* task : {"0", "1"}) {
    const ProgramResult result =
        Convert(url + "--num_tasks 2 --task_index " + task);
    ASSERT_EQ(result.exit_code, 0) << result.err;
    EXPECT_THAT(result.out, HasSubstr("2 shards were uploaded"));
  }
  EXPECT_FALSE(server_.Has("shards/a/b/dataset.json"));
  const ProgramResult finish = Convert(url + "--finish");
  EXPECT_EQ(finish.exit_code, 0) << finish.err;
  EXPECT_THAT(finish.out, HasSubstr("4 shards were there already"));
  EXPECT_TRUE(server_.Has("shards/a/b/dataset.json"));
  EXPECT_TRUE(server_.Has("shards/a/b/validation-00000-of-00002"));
}

}  // namespace
}  // namespace infeed

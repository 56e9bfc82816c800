#include <string>
#include <vector>

#include "base/atomic_file.h"
#include "base/error.h"
#include "pipeline/engine/input_pipeline.h"
#include "records/store/record_index.h"
#include "tests/support/child_process.h"
#include "tests/support/cloud_fixture.h"
#include "tests/support/matchers.h"
#include "tests/support/object_server.h"
#include "tests/support/shard_builder.h"
#include "tests/support/stream_reader.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/throws.h"

// Training data from a store that fails: the same batches, or an error that is
// never taken for a bad record.
namespace infeed {
namespace {

constexpr int kBatches = 20;  // Of more than one epoch.

class CloudPipelineTest : public CloudFixture {
 protected:
  CloudPipelineTest() : files_(TestPayloads(40), 3) {
    constexpr std::int64_t kMaxBytes = 1 << 20;
    for (const std::string& path : files_.index().shards()) {
      const std::string name = path.substr(path.rfind('/') + 1);
      server_.Put("shards/set/" + name, ReadWholeFile(path, kMaxBytes));
      urls_.push_back("s3://shards/set/" + name);
    }
    settings_.retry.attempts = 16;
    SetCloudSettings(settings_);
  }

  static InputOptions Options() {
    return {.batch_size = 4,
            .preprocess = {.image_size = 16},
            .seed = 7,
            .on_bad_record = OnBadRecord::kReplace,
            .threads = 3};
  }
  [[nodiscard]] RecordIndex Index() const {
    return RecordIndex(urls_, {.use_cache = false});
  }
  void FailAThird() const {
    server_.SetFaults(
        R"({"fault": "status", "status": 503, "probability": 0.1},)"
        R"({"fault": "reset", "probability": 0.1},)"
        R"({"fault": "truncate", "probability": 0.07},)"
        R"({"fault": "other_range", "probability": 0.07})");
  }
  [[nodiscard]] bool IsTheSameStream() const {
    return Stream(Index(), Options(), kBatches) ==
           Stream(files_.index(), Options(), kBatches);
  }

  TestShards files_;
  std::vector<std::string> urls_;
};

TEST_F(CloudPipelineTest, GivesTheSameBatchesThroughAThirdOfFailures) {
  FailAThird();
  EXPECT_TRUE(IsTheSameStream());
}

TEST_F(CloudPipelineTest, GivesTheSameBatchesFromTheCache) {
  const TemporaryFolder cache;
  settings_.cache_folder = cache.path();
  SetCloudSettings(settings_);
  FailAThird();
  EXPECT_TRUE(IsTheSameStream());
  EXPECT_TRUE(IsTheSameStream());
}

// ThreadSanitizer starts no threads in a child of a program with threads.
#if !defined(__SANITIZE_THREAD__)
TEST_F(CloudPipelineTest, GivesTheSameBatchesInAChildOfFork) {
  const RecordIndex index = Index();
  InputPipeline inherited(index, Options());
  EXPECT_NE(inherited.Next(), nullptr);
  EXPECT_EQ(InChild([&]() -> std::string {
              return IsTheSameStream() ? "the same" : "different";
            }),
            "the same");
}
#endif

TEST_F(CloudPipelineTest, AStoreThatRefusesIsNoBadRecord) {
  const RecordIndex index = Index();
  server_.SetFaults(
      R"({"fault": "status", "status": 403, "ranged": true, "skip": 20})");
  InputPipeline pipeline(index, Options());
  EXPECT_THAT(
      MessageOf<IoError>([&] { (void)TakeBatches(pipeline, kBatches); }),
      AllOf(HasSubstr("s3://shards/set/train-"), HasSubstr("403")));
}

TEST_F(CloudPipelineTest, AShardThatIsReplacedEndsTheStream) {
  const RecordIndex index = Index();
  server_.SetFaults(
      R"({"fault": "replace", "ranged": true, "skip": 20, "next": 1})");
  InputPipeline pipeline(index, Options());
  EXPECT_THAT(
      MessageOf<IoError>([&] { (void)TakeBatches(pipeline, 10 * kBatches); }),
      AllOf(HasSubstr("s3://shards/set/"), HasSubstr("replaced")));
}

}  // namespace
}  // namespace infeed

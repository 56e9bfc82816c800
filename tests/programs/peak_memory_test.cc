// Compares the peak memory of an input pipeline's process, libraries included,
// with its memory_limit.

#include <sys/resource.h>

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "records/example/imagenet_example.h"
#include "records/files/shards.h"
#include "tests/support/run_program.h"
#include "tests/support/shard_builder.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/test_jpeg.h"

#include "gtest/gtest.h"

namespace infeed {
namespace {

constexpr int kRecordsEach = 250;
constexpr int kShards = 16;

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kIsSanitized = true;  // Which takes memory of its own.
#else
constexpr bool kIsSanitized = false;
#endif

// A small image in a record of 100 kB; some are progressive and larger.
std::string Payload(int record) {
  const bool is_progressive = record % 25 == 0;
  const std::string jpeg = TestJpeg({.width = is_progressive ? 700 : 40,
                                     .height = is_progressive ? 500 : 30,
                                     .progressive = is_progressive});
  return BuildImagenetExample({.label = record + 1,
                               .text = std::string(100'000, 'x'),
                               .encoded = jpeg});
}

// 400 MB of records for a sixteenth of that on the disk: one shard by many
// names.
class PeakMemoryTest : public ::testing::Test {
 protected:
  PeakMemoryTest() {
    std::vector<std::string> payloads;
    for (int record = 0; record < kRecordsEach; ++record) {
      payloads.push_back(Payload(record));
    }
    const TestShards one(payloads, 1);
    for (int shard = 0; shard < kShards; ++shard) {
      std::filesystem::create_hard_link(
          one.index().shards()[0],
          folder_ / ShardName("train", shard, kShards));
    }
  }

  // The peak of the largest program so far, bytes.
  static std::int64_t PeakOfChildren() {
    rusage usage{};
    EXPECT_EQ(getrusage(RUSAGE_CHILDREN, &usage), 0);
    return std::int64_t{usage.ru_maxrss} * 1024;
  }

  ProgramResult Run(const std::string& flags) {
    return RunProgram("pipeline_throughput",
                      "--data_dir " + folder_.path() +
                          " --image_size 32 --threads 2 --hash 62 " + flags);
  }

 private:
  TemporaryFolder folder_;
};

TEST_F(PeakMemoryTest, StaysUnderTheLimitWhateverIsKept) {
  const ProgramResult plain =
      Succeeded(Run("--memory_limit 256MB --no_map_files"));
  const std::int64_t without_cache = PeakOfChildren();
  std::int64_t before = without_cache;
  for (const std::int64_t megabytes : {256, 1000}) {
    EXPECT_EQ(Succeeded(Run("--use_cache --memory_limit " +
                            std::to_string(megabytes) + "MB"))
                  .out,
              plain.out);
    if (!kIsSanitized) {
      EXPECT_LE(PeakOfChildren(), megabytes * 1'000'000);
      EXPECT_GE(PeakOfChildren(), before + 50'000'000) << "The cache is used.";
    }
    before = PeakOfChildren();
  }
}

}  // namespace
}  // namespace infeed

#include <array>
#include <cstdio>
#include <string>

#include <nlohmann/json.hpp>

#include "base/atomic_file.h"
#include "records/bytes/crc32c.h"
#include "records/files/dataset_info.h"
#include "tests/support/bytes.h"
#include "tests/support/cloud_fixture.h"
#include "tests/support/flower_records.h"
#include "tests/support/record_file.h"
#include "tests/support/run_program.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/test_jpeg.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace infeed {
namespace {

using ::testing::AllOf;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using Json = nlohmann::json;

// Two shards of two records each in a bucket, and what describes them.
class RecordsCloudTest : public CloudFixture {
 protected:
  RecordsCloudTest() {
    DatasetInfo info;
    info.splits.push_back({.name = "train", .records = 4, .shards = {}});
    for (const int shard : {0, 1}) {
      RecordFile file;
      for (const std::string name : {"a.jpg", "b.jpg"}) {
        file.Add(PayloadOf({jpeg_, shard + 1, name}));
      }
      server_.Put("shards/flowers/" + Name(shard), file.bytes());
      info.splits[0].shards.push_back(
          {.name = Name(shard),
           .records = 2,
           .bytes = static_cast<std::int64_t>(file.bytes().size()),
           .crc32c = Hex(Crc32c(AsBytes(file.bytes())))});
    }
    WriteDatasetInfo("s3://shards/flowers", info);
  }

  static std::string Name(int shard) {
    return "train-0000" + std::to_string(shard) + "-of-00002";
  }
  static std::string Hex(std::uint32_t value) {
    std::array<char, 9> text{};
    std::snprintf(text.data(), text.size(), "%08x", value);
    return text.data();
  }

  const std::string jpeg_ = TestJpeg();
};

TEST_F(RecordsCloudTest, VerbsTakePatternsOfUrls) {
  const std::string pattern = " 's3://shards/flowers/train-*'";
  EXPECT_THAT(RunProgram("records", "count" + pattern).out,
              AllOf(HasSubstr("s3://shards/flowers/" + Name(1) + " 2\n"),
                    EndsWith("total 4\n")));
  const Json stats =
      Json::parse(RunProgram("records", "stats --json" + pattern).out);
  EXPECT_EQ(stats["images"], 4);
  EXPECT_THAT(RunProgram("records", "cat --record 3" + pattern).out,
              HasSubstr("\"image/class/label\":2"));
  EXPECT_THAT(RunProgram("records", "ls" + pattern).out,
              HasSubstr("  same          s3://shards/flowers/"));
}

TEST_F(RecordsCloudTest, VerifyComparesWithTheDescriptionByUrl) {
  const ProgramResult good =
      RunProgram("records", "verify s3://shards/flowers");
  EXPECT_EQ(good.exit_code, 0) << good.err;
  EXPECT_EQ(good.out, "4 records in 2 shards, 0 bad\n");
  std::string bytes = server_.Get("shards/flowers/" + Name(0));
  bytes[20] ^= 1;
  server_.Put("shards/flowers/" + Name(0), bytes);
  const ProgramResult bad = RunProgram("records", "verify s3://shards/flowers");
  EXPECT_EQ(bad.exit_code, 3);
  EXPECT_THAT(bad.out,
              AllOf(HasSubstr("s3://shards/flowers/" + Name(0) +
                              ": record 0 at byte 0: corrupted record"),
                    HasSubstr(", dataset.json says ")));
}

TEST_F(RecordsCloudTest, ExtractTakesUrls) {
  const TemporaryFolder folder;
  const ProgramResult result =
      RunProgram("records", "extract --split --output " + (folder / "out") +
                                " s3://shards/flowers");
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(ReadWholeFile(folder / "out/train/2/b.jpg", 1 << 20), jpeg_);
}

}  // namespace
}  // namespace infeed

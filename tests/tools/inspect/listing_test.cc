#include "tools/inspect/listing.h"

#include <filesystem>
#include <string>

#include <nlohmann/json.hpp>

#include "records/files/dataset_info.h"
#include "records/store/file_records.h"
#include "records/tfrecord/writer.h"
#include "tests/support/matchers.h"
#include "tests/support/record_file.h"
#include "tests/support/temporary_folder.h"

namespace infeed {
namespace {

using Json = nlohmann::json;

// Two records each in an indexed shard, a compressed one, and one whose index
// is older than the shard; a dataset.json that lists the first and the last.
class ListingTest : public ::testing::Test {
 protected:
  ListingTest() {
    DatasetInfo info;
    info.splits.push_back({.name = "train", .records = 4, .shards = {}});
    for (const int shard : {0, 1, 2}) {
      TfrecordWriter writer(
          Path(shard),
          {.compression = shard == 1 ? Compression::kGzip : Compression::kNone,
           .write_index = shard != 1});
      writer.Append("x");
      writer.Append("y");
      writer.Close();
      if (shard != 1) {
        info.splits[0].shards.push_back(
            {.name = std::filesystem::path(Path(shard)).filename(),
             .records = 2,
             .bytes = writer.size(),
             .crc32c = "00000000"});
      }
    }
    WriteDatasetInfo(folder_.path(), info);
    RecordFile().Add("x").Add("y").Add("z").Write(Path(2));
  }

  [[nodiscard]] std::string Path(int shard) const {
    return folder_ / ("train-0000" + std::to_string(shard) + "-of-00003");
  }
  [[nodiscard]] ShardListing List(const ShardSetFaults& faults = {}) const {
    return ListShardFiles({Path(0), Path(1), Path(2)}, faults, 2);
  }

  const TemporaryFolder folder_;
};

TEST_F(ListingTest, ShowsWhatIsKnownOfShards) {
  const ShardListing listing = List();
  EXPECT_THAT(listing.problems, ElementsAre());
  const std::string text = RenderText(ListingReport(listing));
  EXPECT_THAT(text, HasSubstr("none    fresh  same          " + Path(0)));
  EXPECT_THAT(text, HasSubstr("gzip    none   -             " + Path(1)));
  EXPECT_THAT(text, HasSubstr("51 B  none    stale  differs       " + Path(2)));
  EXPECT_THAT(text, EndsWith("  total of 3 shards\n"));
  const Json json = Json::parse(RenderJson(ListingReport(listing)));
  EXPECT_EQ(json["records"], 7);
  EXPECT_EQ(json["shards"][2], Json({{"file", Path(2)},
                                     {"records", 3},
                                     {"bytes", 51},
                                     {"compression", "none"},
                                     {"index", "stale"},
                                     {"dataset_json", "differs"}}));
}

TEST_F(ListingTest, ListsDamagedAndMissingShardsToo) {
  RecordFile().Add("x").Truncate(1).Write(Path(0));
  RecordFile().AddRaw("{").Write(folder_ / "dataset.json");
  const std::string missing = folder_ / "train-00003-of-00004";
  const ShardListing listing =
      List({.missing = {{missing, -1}}, .mixed = {"m"}});
  EXPECT_THAT(listing.problems, ElementsAre(HasSubstr("dataset.json: "), "m",
                                            StartsWith(Path(0) + ": record 0"),
                                            missing + ": missing"));
  const ReportTable report = ListingReport(listing);
  EXPECT_THAT(RenderText(report), HasSubstr("\ndamaged "));
  EXPECT_THAT(RenderText(report), HasSubstr("\nmissing "));
  const Json shards = Json::parse(RenderJson(report))["shards"];
  EXPECT_TRUE(shards[0].contains("error"));
  EXPECT_EQ(shards[3],
            Json({{"file", missing}, {"error", missing + ": missing"}}));
}

TEST_F(ListingTest, CountsAreOfShardsAndInTotal) {
  const ReportTable report = CountReport(CountShards({Path(2), Path(1)}, 2));
  EXPECT_EQ(RenderText(report), Path(2) + " 3\n" + Path(1) + " 2\ntotal 5\n");
  const Json json = Json::parse(RenderJson(report));
  EXPECT_EQ(json["total"], 5);
  EXPECT_EQ(json["shards"][1], Json({{"file", Path(1)}, {"records", 2}}));
}

}  // namespace
}  // namespace infeed

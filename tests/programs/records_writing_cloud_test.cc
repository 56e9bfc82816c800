#include <string>
#include <vector>

#include "records/files/dataset_info.h"
#include "records/tfrecord/reader.h"
#include "tests/support/bytes.h"
#include "tests/support/cloud_fixture.h"
#include "tests/support/matchers.h"
#include "tests/support/record_file.h"
#include "tests/support/run_program.h"
#include "tests/support/temporary_folder.h"

// The verbs that write, from and to object stores.
namespace infeed {
namespace {

class RecordsWritingCloudTest : public CloudFixture {
 protected:
  RecordsWritingCloudTest() {
    server_.Put("shards/in/train-00000-of-00002",
                RecordFile().Add("a").Add("b").bytes());
    server_.Put("shards/in/train-00001-of-00002",
                RecordFile().Add("c").bytes());
    server_.Put("shards/in/dataset.json",
                R"({"format": "infeed dataset", "version": 1, "seed": 3,
                    "classes": ["cat"], "splits": []})");
  }
  static ProgramResult Run(const std::string& verb, const std::string& output) {
    return RunProgram("records", verb + " s3://shards/in --output " + output);
  }
  static std::vector<std::string> ReadAll(const std::string& url) {
    TfrecordReader reader(url);
    std::vector<std::string> payloads;
    while (const auto record = reader.Next()) {
      payloads.push_back(AsText(record->payload));
    }
    return payloads;
  }
};

TEST_F(RecordsWritingCloudTest, ReshardsFromAStoreIntoAStore) {
  const std::string out = "gs://gs-shards/out";
  ProgramResult result = Run("reshard --shards 3", out);
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(ReadAll(out + "/train-00002-of-00003"), ElementsAre("c"));
  const auto info = ReadDatasetInfo(out);
  ASSERT_TRUE(info);
  EXPECT_THAT(info->classes, ElementsAre("cat"));
  EXPECT_EQ(info->splits[0].records, 3);
  // Another number of shards replaces these only when told, and wholly.
  result = Run("reshard --shards 1", out);
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(result.err, HasSubstr("--overwrite"));
  result = Run("reshard --shards 1 --overwrite", out);
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(server_.Keys("gs-shards"),
              ElementsAre("out/dataset.json", "out/train-00000-of-00001"));
  EXPECT_EQ(ReadDatasetInfo(out)->splits[0].shards.size(), 1U);
}

TEST_F(RecordsWritingCloudTest, MergesIntoAStore) {
  const std::string url = "s3://shards/all.tfrecord";
  ASSERT_EQ(Run("merge", url).exit_code, 0);
  EXPECT_THAT(ReadAll(url), ElementsAre("a", "b", "c"));
  EXPECT_EQ(Run("merge", url).exit_code, 2);
  EXPECT_EQ(Run("merge --overwrite", url).exit_code, 0);
  EXPECT_THAT(server_.OpenUploads(), IsEmpty());
}

TEST_F(RecordsWritingCloudTest, RepairsFromAStoreIntoAStore) {
  const std::string name = "train-00001-of-00002";
  server_.Put("shards/in/" + name, RecordFile().AddRaw("xyz").Add("c").bytes());
  ASSERT_THAT(Run("repair --frames_only", "s3://shards/good"), Ends(0));
  EXPECT_THAT(ReadAll("s3://shards/good/" + name), ElementsAre("c"));
  EXPECT_EQ(server_.Get("shards/good/.infeed/" + name + ".bad"), "xyz");
  EXPECT_EQ(Run("repair", "s3://shards/in/").exit_code, 2);
}

TEST_F(RecordsWritingCloudTest, ComparesAStoreWithAFolder) {
  const TemporaryFolder folder;
  const std::string local = folder / "local";
  ASSERT_EQ(Run("split --records 1", local).exit_code, 0);
  EXPECT_EQ(RunProgram("records", "diff s3://shards/in " + local).exit_code, 0);
}

TEST_F(RecordsWritingCloudTest, PutsDalisIndexBesideTheShards) {
  ASSERT_THAT(RunProgram("records", "index --dali s3://shards/in"), Ends(0));
  EXPECT_EQ(server_.Get("shards/in/train-00000-of-00002.idx"), "0 17\n17 17\n");
}

}  // namespace
}  // namespace infeed

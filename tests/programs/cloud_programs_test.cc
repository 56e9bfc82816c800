#include <array>
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include "records/bytes/crc32c.h"
#include "records/example/imagenet_example.h"
#include "records/files/dataset_info.h"
#include "tests/support/bytes.h"
#include "tests/support/cloud_fixture.h"
#include "tests/support/matchers.h"
#include "tests/support/object_server.h"
#include "tests/support/record_file.h"
#include "tests/support/run_program.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/test_jpeg.h"

// The programs on URLs, as users give them.
namespace infeed {
namespace {

class CloudProgramsTest : public CloudFixture {
 protected:
  CloudProgramsTest() {
    const std::string jpeg = TestJpeg({.width = 31, .height = 17});
    for (int i = 0; i < 3; ++i) {
      Shard(i < 2 ? 0 : 1)
          .Add(BuildImagenetExample({.height = 17,
                                     .width = 31,
                                     .label = i + 1,
                                     .synset = "roses",
                                     .text = "",
                                     .filename = "a.jpg",
                                     .encoded = jpeg}));
    }
    for (const std::string folder :
         {"shards/data/", "gs-shards/data/", "plain/data/"}) {
      PutShards(folder);
    }
  }

  RecordFile& Shard(int i) { return i == 0 ? first_ : second_; }
  static std::string Name(int i) {
    return "train-0000" + std::to_string(i) + "-of-00002";
  }
  void PutShards(const std::string& folder) const {
    server_.Put(folder + Name(0), first_.bytes());
    server_.Put(folder + Name(1), second_.bytes());
  }
  // Writes the description of the shards in the S3 bucket.
  void Describe() const {
    DatasetInfo info;
    info.splits.push_back({.name = "train", .records = 3, .shards = {}});
    for (const RecordFile* const shard : {&first_, &second_}) {
      std::array<char, 9> crc{};
      std::snprintf(crc.data(), crc.size(), "%08x",
                    Crc32c(AsBytes(shard->bytes())));
      info.splits[0].shards.push_back(
          {.name = Name(shard == &first_ ? 0 : 1),
           .records = shard == &first_ ? 2 : 1,
           .bytes = static_cast<std::int64_t>(shard->bytes().size()),
           .crc32c = crc.data()});
    }
    WriteDatasetInfo("s3://shards/data", info);
  }

  // A folder of each kind, and what of it a user gives: a web server has no
  // lists.
  struct Place {
    std::string folder;
    std::string spec;
  };
  [[nodiscard]] std::vector<Place> Places() const {
    const std::string web = server_.url() + "/plain/data/";
    return {{"s3://shards/data/", "s3://shards/data/train-*"},
            {"gs://gs-shards/data/", "gs://gs-shards/data"},
            {web, web + Name(0) + "," + web + Name(1)}};
  }
  static ProgramResult Run(const std::string& verb, const std::string& spec) {
    return RunProgram("records", verb + " '" + spec + "'");
  }

  RecordFile first_;
  RecordFile second_;
};

TEST_F(CloudProgramsTest, VerbsTakeUrlsOfEveryStore) {
  for (const Place& place : Places()) {
    EXPECT_EQ(Succeeded(Run("count", place.spec)).out,
              place.folder + Name(0) + " 2\n" + place.folder + Name(1) +
                  " 1\ntotal 3\n");
  }
  Describe();
  const std::string pattern = "s3://shards/data/train-*";
  EXPECT_THAT(Run("cat --record 2", pattern).out,
              AllOf(StartsWith("{\"file\":\"s3://shards/data/" + Name(1) +
                               "\",\"record\":0,"),
                    HasSubstr("\"image/class/label\":3")));
  EXPECT_THAT(Run("ls", pattern).out,
              HasSubstr("  same          s3://shards/data/" + Name(1)));
  EXPECT_THAT(Run("stats", pattern).out, HasSubstr("records     3"));
}

TEST_F(CloudProgramsTest, ACacheSavesTheSecondDownload) {
  const TemporaryFolder folder;
  const std::string verb = "verify --cache_dir " + folder.path();
  EXPECT_EQ(Run(verb, "s3://shards/data/train-*").exit_code, 0);
  server_.ClearLog();
  EXPECT_EQ(Run(verb, "s3://shards/data/train-*").exit_code, 0);
  for (const LoggedRequest& request : server_.log().requests) {
    EXPECT_TRUE(request.method == "HEAD" ||
                request.query.find("list-type") != std::string::npos)
        << request.method << " " << request.path;
  }
}

TEST_F(CloudProgramsTest, AWriteThatIsRefusedIsOneClearLine) {
  server_.SetFaults(R"({"fault": "status", "status": 403, "method": "PUT"})");
  EXPECT_THAT(
      Run("reshard --output s3://shards/new", "s3://shards/data/train-*"),
      Ends(1, AllOf(HasSubstr("records: s3://shards/new/"), HasSubstr("403"),
                    HasSubstr("credentials"))));
  EXPECT_THAT(server_.Keys("shards"), testing::SizeIs(2));
}

}  // namespace
}  // namespace infeed

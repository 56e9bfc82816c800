#include <algorithm>
#include <string>
#include <vector>

#include <gmock/gmock.h>

#include "records/example/imagenet_example.h"
#include "tests/support/cloud_fixture.h"
#include "tests/support/object_server.h"
#include "tests/support/record_file.h"
#include "tests/support/run_program.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/test_jpeg.h"

// The programs on URLs, as users give them.
namespace infeed {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

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

TEST_F(CloudProgramsTest, RecordsAreCounted) {
  for (const Place& place : Places()) {
    const ProgramResult result = Run("count", place.spec);
    EXPECT_EQ(result.exit_code, 0) << result.err;
    EXPECT_EQ(result.out, place.folder + Name(0) + " 2\n" + place.folder +
                              Name(1) + " 1\ntotal 3\n");
  }
}

TEST_F(CloudProgramsTest, RecordsAreVerified) {
  for (const Place& place : Places()) {
    const ProgramResult result = Run("verify", place.spec);
    EXPECT_EQ(result.exit_code, 0) << result.err << result.out;
  }
}

TEST_F(CloudProgramsTest, DamageIsFoundAndNamed) {
  second_.FlipByte(40);
  PutShards("shards/data/");
  const ProgramResult result = Run("verify", "s3://shards/data/");
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_THAT(result.out + result.err,
              HasSubstr("s3://shards/data/" + Name(1)));
}

TEST_F(CloudProgramsTest, MissingShardsAreNamed) {
  server_.Put("shards/part/train-00001-of-00002", second_.bytes());
  for (const std::string spec :
       {"s3://shards/part", "s3://shards/part/train-*"}) {
    const ProgramResult refused = Run("count", spec);
    EXPECT_EQ(refused.exit_code, 3);
    EXPECT_THAT(refused.err,
                HasSubstr("missing: s3://shards/part/train-00000-of-00002;"));
    EXPECT_EQ(Run("count --allow_missing_shards", spec).exit_code, 0);
  }
}

TEST_F(CloudProgramsTest, RecordsArePrinted) {
  for (const Place& place : Places()) {
    const ProgramResult result = Run("cat --limit 1", place.spec);
    EXPECT_EQ(result.exit_code, 0) << result.err;
    EXPECT_THAT(result.out, StartsWith("{\"file\":\"" + place.folder + Name(0) +
                                       "\",\"record\":0,"));
  }
}

TEST_F(CloudProgramsTest, ShardsAreListed) {
  for (const Place& place : Places()) {
    const ProgramResult result = Run("ls", place.spec);
    EXPECT_EQ(result.exit_code, 0) << result.err;
    EXPECT_THAT(result.out, AllOf(HasSubstr(Name(0)), HasSubstr(Name(1))));
  }
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

TEST_F(CloudProgramsTest, ShardsAreRewrittenFromStoreToStore) {
  const ProgramResult result =
      Run("reshard --shards 3 --output gs://gs-shards/new",
          "s3://shards/data/train-*");
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const ProgramResult count = Run("count", "gs://gs-shards/new");
  EXPECT_THAT(count.out, AllOf(HasSubstr("train-00002-of-00003 1\n"),
                               HasSubstr("total 3\n")));
  EXPECT_EQ(Run("verify", "gs://gs-shards/new").exit_code, 0);
  EXPECT_EQ(server_.Get("shards/data/" + Name(0)), first_.bytes());
}

TEST_F(CloudProgramsTest, DamageIsLeftOutOnTheWayToAnotherFolder) {
  first_.FlipByte(40);
  PutShards("shards/data/");
  const ProgramResult result =
      Run("repair --output s3://shards/mended", "s3://shards/data/train-*");
  EXPECT_THAT(result.out + result.err, HasSubstr(Name(0)));
  EXPECT_THAT(Run("count", "s3://shards/mended").out, HasSubstr("total 2\n"));
  EXPECT_EQ(Run("verify", "s3://shards/mended").exit_code, 0);
}

TEST_F(CloudProgramsTest, AWriteThatIsRefusedIsOneClearLine) {
  server_.SetFaults(R"({"fault": "status", "status": 403, "method": "PUT"})");
  const ProgramResult result =
      Run("reshard --output s3://shards/new", "s3://shards/data/train-*");
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.err, AllOf(HasSubstr("records: s3://shards/new/"),
                                HasSubstr("403"), HasSubstr("credentials")));
  EXPECT_THAT(server_.Keys("shards"), testing::SizeIs(2));
}

TEST_F(CloudProgramsTest, AShortDisturbanceIsNotSeen) {
  server_.SetFaults(R"({"fault": "status", "status": 503, "next": 2},)"
                    R"({"fault": "reset_body", "method": "GET", "next": 1})");
  const ProgramResult result = Run("count", "s3://shards/data/train-*");
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("total 3\n"));
}

TEST_F(CloudProgramsTest, ARefusalIsOneClearLineWithoutSecrets) {
  Set("AWS_SECRET_ACCESS_KEY", "wrong/Secret+of/the+tests");
  const ProgramResult result = Run("count", "s3://shards/data/train-*");
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.err,
              AllOf(StartsWith("records: s3://shards"), HasSubstr("403"),
                    HasSubstr("SignatureDoesNotMatch"),
                    Not(HasSubstr("wrong/Secret"))));
  EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 1);
}

TEST_F(CloudProgramsTest, WhatIsNotThereIsNamed) {
  const ProgramResult result = Run("count", "gs://gs-shards/nothing/train-*");
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.err, HasSubstr("gs://gs-shards/nothing/train-*"));
}

}  // namespace
}  // namespace infeed

#include <string>
#include <vector>

#include <gmock/gmock.h>

#include "base/error.h"
#include "records/files/shards.h"
#include "tests/support/cloud_fixture.h"
#include "tests/support/object_server.h"
#include "tests/support/throws.h"

// Shards of buckets: folders and patterns, over several pages of a list.
namespace infeed {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

class CloudListTest : public CloudFixture {
 protected:
  CloudListTest() : CloudFixture({"--max_list=3"}) {
    for (int i = 0; i < 8; ++i) {
      const std::string name = ShardName("train", i, 8);
      server_.Put("shards/data/" + name, "x");
      server_.Put("gs-shards/" + name, "x");
      train_.push_back("s3://shards/data/" + name);
    }
    server_.Put("shards/data/README.txt", "x");
    server_.Put("shards/data/.infeed/train-00000-of-00008.index", "x");
    server_.Put("shards/data/validation/validation-00000-of-00001", "x");
    server_.Put("shards/database/train-00000-of-00001", "x");
  }

  std::vector<std::string> train_;
};

TEST_F(CloudListTest, APatternTakesEveryPage) {
  EXPECT_EQ(ListShards("s3://shards/data/train-*"), train_);
  EXPECT_GE(server_.log().Count("GET"), 3);
}

TEST_F(CloudListTest, AFolderTakesItsSplits) {
  std::vector<std::string> all = train_;
  all.emplace_back("s3://shards/data/validation/validation-00000-of-00001");
  EXPECT_EQ(ListShards("s3://shards/data/"), all);
  EXPECT_EQ(ListShards("s3://shards/data"), all);
}

TEST_F(CloudListTest, ABucketIsAFolder) {
  EXPECT_EQ(ListShards("gs://gs-shards").size(), 8U);
}

TEST_F(CloudListTest, PatternsMatchAsInTheShell) {
  EXPECT_THAT(ListShards("s3://shards/data/train-0000[2-3]-of-*"),
              ElementsAre(train_[2], train_[3]));
  EXPECT_THAT(ListShards("s3://shards/data/train-0000?-of-0000[89]"),
              testing::SizeIs(8));
}

TEST_F(CloudListTest, AShardThatIsNamedIsTakenAsItIs) {
  EXPECT_THAT(ListShards("s3://shards/data/README.txt," + train_[5]),
              ElementsAre("s3://shards/data/README.txt", train_[5]));
}

TEST_F(CloudListTest, SplitsAreFound) {
  EXPECT_EQ(FindSplit("s3://shards/data", "train"), train_);
  EXPECT_THAT(
      FindSplit("s3://shards/data", "val"),
      ElementsAre("s3://shards/data/validation/validation-00000-of-00001"));
}

TEST_F(CloudListTest, KeysKeepTheirOddCharacters) {
  const std::string key = "a b&<c>+%25/train-00000-of-00001";
  server_.Put("shards/a%20b%26%3Cc%3E%2B%2525/train-00000-of-00001", "bytes");
  EXPECT_THAT(ListShards("s3://shards/a b&<c>+%25/train-*"),
              ElementsAre("s3://shards/" + key));
  EXPECT_EQ(ReadAll("s3://shards/" + key), "bytes");
}

TEST_F(CloudListTest, APageThatFailsIsAskedForAgain) {
  server_.SetFaults(
      R"({"fault": "status", "status": 503, "query": "continuation",)"
      R"( "next": 2},)"
      R"({"fault": "truncate", "query": "continuation", "next": 1},)"
      R"({"fault": "garbage", "query": "continuation", "next": 1})");
  settings_.retry.attempts = 8;
  SetCloudSettings(settings_);
  EXPECT_EQ(ListShards("s3://shards/data/train-*"), train_);
}

TEST_F(CloudListTest, AListThatIsGarbageIsAnError) {
  server_.SetFaults(R"({"fault": "garbage", "query": "list-type"})");
  EXPECT_THAT(
      MessageOf<IoError>([] { (void)ListShards("s3://shards/data/train-*"); }),
      AllOf(HasSubstr("s3://shards"), HasSubstr("cannot list")));
}

TEST_F(CloudListTest, AnEndlessListIsAnError) {
  server_.SetFaults(
      R"({"fault": "garbage", "query": "list-type", "status": 200, "text": ")"
      "<ListBucketResult><IsTruncated>true</IsTruncated>"
      "<NextContinuationToken>again</NextContinuationToken>"
      R"(</ListBucketResult>"})");
  EXPECT_THAT(
      MessageOf<IoError>([] { (void)ListShards("s3://shards/data/train-*"); }),
      HasSubstr("repeats pages"));
}

TEST_F(CloudListTest, WhatMatchesNothingIsAnError) {
  for (const std::string url :
       {"s3://shards/data/test-*", "s3://shards/nothing/",
        "gs://gs-shards/data/*"}) {
    EXPECT_THAT(MessageOf<IoError>([&] { (void)ListShards(url); }),
                HasSubstr(url));
  }
}

TEST_F(CloudListTest, ABucketThatIsNotThereIsAnError) {
  EXPECT_THAT(
      MessageOf<IoError>([] { (void)ListShards("s3://nowhere/train-*"); }),
      AllOf(HasSubstr("s3://nowhere"), HasSubstr("NoSuchBucket")));
}

}  // namespace
}  // namespace infeed

#include "records/cloud/object_store.h"

#include <array>
#include <string>
#include <vector>

#include "base/error.h"
#include "records/bytes/byte_source.h"
#include "records/cloud/cloud_runtime.h"
#include "tests/support/bytes.h"
#include "tests/support/cloud_environment.h"
#include "tests/support/loopback_server.h"
#include "tests/support/matchers.h"
#include "tests/support/throws.h"

namespace infeed::object_store_test {

using Reply = LoopbackServer::Reply;

constexpr const char* kUrl = "s3://bucket/a key";

TEST(ContentRangeTest, IsReadStrictly) {
  const auto range = ParseContentRange("bytes 3-5/9");
  ASSERT_TRUE(range);
  EXPECT_EQ(range->first, 3);
  EXPECT_EQ(range->last, 5);
  EXPECT_EQ(range->size, 9);
  for (const char* text :
       {"", "bytes 3-5", "bytes 3-5/*", "bytes 5-3/9", "bytes 3-9/9",
        "bytes -3-5/9", "bytes 3-5/9x", "items 3-5/9", "bytes 3 -5/9",
        "bytes 3-99999999999999999999/9"}) {
    EXPECT_FALSE(ParseContentRange(text)) << text;
  }
}

// A store that gives these answers, and settings without long waits.
class ObjectStoreTest : public ::testing::Test {
 protected:
  const ObjectStore& Store(std::vector<Reply> replies) {
    server_ = std::make_unique<LoopbackServer>(InTurn(std::move(replies)));
    environment_.Set("AWS_ENDPOINT_URL", server_->url());
    CloudSettings settings;
    settings.retry.attempts = 3;
    settings.retry.first_delay = std::chrono::milliseconds(1);
    store_ = std::make_unique<ObjectStore>(settings);
    return *store_;
  }
  // Reads bytes 2-4 of nine.
  std::string Read(std::vector<Reply> replies) {
    std::array<std::byte, 3> place{};
    Store(std::move(replies)).Read(kUrl, 2, place, kInfo);
    return AsText(place);
  }
  std::string ReadRefusal(std::vector<Reply> replies) {
    return MessageOf<IoError>([&] { (void)Read(std::move(replies)); });
  }
  static Reply Part(const std::string& body, const std::string& range,
                    const std::string& etag = "\"e\"") {
    return {HttpAnswer(
        206, body, "Content-Range: " + range + "\r\nETag: " + etag + "\r\n")};
  }
  std::string Asked(std::size_t number = 0) {
    return server_->requests().at(number);
  }
  std::size_t Attempts() { return server_->requests().size(); }

  inline static const ObjectInfo kInfo = {.size = 9, .etag = "\"e\""};
  CloudEnvironment environment_;
  std::unique_ptr<LoopbackServer> server_;
  std::unique_ptr<ObjectStore> store_;
};

TEST_F(ObjectStoreTest, FindsWhatIsThere) {
  const ObjectInfo info =
      Store({{"HTTP/1.1 200 x\r\nContent-Length: 9\r\nETag: \"e\"\r\n\r\n"}})
          .Stat(kUrl);
  EXPECT_EQ(info.size, 9);
  EXPECT_EQ(info.etag, "\"e\"");
  EXPECT_THAT(Asked(), StartsWith("HEAD /bucket/a%20key HTTP/1.1\r\n"));
}

TEST_F(ObjectStoreTest, SaysThatNothingIsThere) {
  EXPECT_FALSE(Store({{"HTTP/1.1 404 x\r\n\r\n"}}).Find(kUrl));
  EXPECT_THAT(MessageOf<IoError>([&] { (void)store_->Stat(kUrl); }),
              HasSubstr("s3://bucket/a key: cannot find: there is no such"));
}

TEST_F(ObjectStoreTest, NeedsASize) {
  EXPECT_THAT(MessageOf<IoError>([&] {
                (void)Store({{"HTTP/1.1 200 x\r\n\r\n"}}).Find(kUrl);
              }),
              HasSubstr("does not report the size"));
}

TEST_F(ObjectStoreTest, AsksAWebServerWithoutHeadForTheFirstByte) {
  const ObjectStore& store =
      Store({{"HTTP/1.1 403 x\r\nContent-Length: 0\r\n\r\n"},
             Part("h", "bytes 0-0/9")});
  EXPECT_EQ(store.Stat(server_->url() + "/x?sig=1").size, 9);
  EXPECT_THAT(Asked(1), AllOf(StartsWith("GET /x?sig=1 "),
                              HasSubstr("Range: bytes=0-0\r\n")));
}

TEST_F(ObjectStoreTest, ReadsARangeOfTheSameObject) {
  EXPECT_EQ(Read({Part("llo", "bytes 2-4/9")}), "llo");
  EXPECT_THAT(Asked(), AllOf(HasSubstr("Range: bytes=2-4\r\n"),
                             HasSubstr("If-Match: \"e\"\r\n"),
                             HasSubstr("Accept-Encoding: identity\r\n")));
}

TEST_F(ObjectStoreTest, NeverTakesAnotherRange) {
  EXPECT_EQ(Read({Part("hel", "bytes 0-2/9"), Part("llo", "bytes 2-4/9")}),
            "llo");
  EXPECT_THAT(ReadRefusal({Part("hel", "bytes 0-2/9")}),
              HasSubstr("asked for the bytes 2-4, the answer has 'bytes "
                        "0-2/9', after 3 attempts"));
  EXPECT_THAT(ReadRefusal({{HttpAnswer(206, "llo")}}), HasSubstr("has ''"));
  EXPECT_THAT(ReadRefusal({Part("ll", "bytes 2-4/9")}),
              HasSubstr("asked for 3 bytes, the answer has 2"));
}

TEST_F(ObjectStoreTest, NeverMixesTwoObjects) {
  const char* kReplaced =
      "was replaced while it was read, or its servers give it different ETags "
      "or times";
  EXPECT_THAT(ReadRefusal({{HttpAnswer(412)}}), HasSubstr(kReplaced));
  EXPECT_THAT(ReadRefusal({{HttpAnswer(416)}}), HasSubstr(kReplaced));
  EXPECT_THAT(ReadRefusal({Part("llo", "bytes 2-4/8")}), HasSubstr(kReplaced));
  EXPECT_THAT(ReadRefusal({Part("llo", "bytes 2-4/9", "\"f\"")}),
              HasSubstr(kReplaced));
  EXPECT_EQ(Attempts(), 1);
}

TEST_F(ObjectStoreTest, TakesAWholeObjectOnlyForTheWhole) {
  EXPECT_THAT(ReadRefusal({{HttpAnswer(200, "llo")}}),
              HasSubstr("sends the whole object"));
  std::array<std::byte, 9> place{};
  Store({{HttpAnswer(200, "whole")}, {HttpAnswer(200, "whole one")}})
      .Read(kUrl, 0, place, kInfo);
  EXPECT_EQ(AsText(place), "whole one");
}

TEST_F(ObjectStoreTest, DemandsWhatAServerWithoutStrongEtagsUnderstands) {
  std::array<std::byte, 3> place{};
  Store({Part("llo", "bytes 2-4/9", "W/\"e\"")})
      .Read(kUrl, 2, place,
            {.size = 9, .etag = "W/\"e\"", .last_modified = "yesterday"});
  EXPECT_THAT(Asked(), AllOf(HasSubstr("If-Unmodified-Since: yesterday\r\n"),
                             Not(HasSubstr("If-Match"))));
}

// Small web servers ignore If-Unmodified-Since.
TEST_F(ObjectStoreTest, ReadsNoOtherFileOfAServerThatHasOnlyTimes) {
  const auto read = [&](const std::string& time) {
    std::array<std::byte, 3> place{};
    Store({{HttpAnswer(206, "llo",
                       "Content-Range: bytes 2-4/9\r\nLast-Modified: " + time +
                           "\r\n")}})
        .Read(kUrl, 2, place, {.size = 9, .last_modified = "yesterday"});
    return AsText(place);
  };
  EXPECT_EQ(read("yesterday"), "llo");
  EXPECT_THAT(MessageOf<IoError>([&] { (void)read("today"); }),
              HasSubstr("was replaced while it was read"));
}

TEST_F(ObjectStoreTest, SaysWhereTheBucketIs) {
  EXPECT_THAT(ReadRefusal({{HttpAnswer(301, "",
                                       "x-amz-bucket-region: eu-west-1\r\n")}}),
              HasSubstr("AWS_REGION=eu-west-1"));
}

TEST_F(ObjectStoreTest, ListsPageByPage) {
  const ObjectListing listing =
      Store({{HttpAnswer(200,
                         "<ListBucketResult><IsTruncated>true</IsTruncated>"
                         "<NextContinuationToken>a+b</NextContinuationToken>"
                         "<Contents><Key>p/x</Key><Size>1</Size></Contents>"
                         "</ListBucketResult>")},
             {HttpAnswer(200,
                         "<ListBucketResult>"
                         "<Contents><Key>p/y z</Key><Size>2</Size></Contents>"
                         "<CommonPrefixes><Prefix>p/d/</Prefix>"
                         "</CommonPrefixes></ListBucketResult>")}})
          .List("s3://bucket/p/");
  ASSERT_EQ(listing.objects.size(), 2);
  EXPECT_EQ(listing.objects[1].url, "s3://bucket/p/y z");
  EXPECT_EQ(listing.objects[1].size, 2);
  EXPECT_THAT(listing.folders, ::testing::ElementsAre("s3://bucket/p/d/"));
  EXPECT_THAT(Asked(), StartsWith("GET /bucket?delimiter=%2F&list-type=2&"
                                  "prefix=p%2F HTTP"));
  EXPECT_THAT(Asked(1), HasSubstr("continuation-token=a%2Bb&"));
}

TEST_F(ObjectStoreTest, LeavesAListThatGoesInCircles) {
  const auto page = [](const std::string& token) {
    return Reply{HttpAnswer(200,
                            "<ListBucketResult><IsTruncated>true</IsTruncated>"
                            "<NextContinuationToken>" +
                                token +
                                "</NextContinuationToken></ListBucketResult>")};
  };
  for (const std::vector<Reply>& pages :
       {std::vector{page("a")}, {page("a"), page("b"), page("a")}}) {
    EXPECT_THAT(MessageOf<IoError>([&] { (void)Store(pages).List("s3://b/"); }),
                HasSubstr("repeats pages"));
  }
  EXPECT_EQ(Attempts(), 3);
}

TEST_F(ObjectStoreTest, RefusesAListOfWhatLiesElsewhere) {
  for (const std::string entry :
       {"<Contents><Key>x</Key><Size>1</Size></Contents>",
        "<CommonPrefixes><Prefix>a/</Prefix></CommonPrefixes>"}) {
    EXPECT_THAT(MessageOf<IoError>([&] {
                  (void)Store({{HttpAnswer(200, "<ListBucketResult>" + entry +
                                                    "</ListBucketResult>")}})
                      .List("s3://bucket/a/b/");
                }),
                HasSubstr("which has another prefix"));
  }
}

TEST_F(ObjectStoreTest, AsksAgainForAListThatIsCutShort) {
  EXPECT_THAT(MessageOf<IoError>([&] {
                (void)Store({{HttpAnswer(403)}}).List("s3://bucket/p/x");
              }),
              StartsWith("s3://bucket/p/x: cannot list: "));
  EXPECT_EQ(Store({{HttpAnswer(200, "<ListBucketResult><Conte")},
                   {HttpAnswer(200, "<ListBucketResult/>")}})
                .List("s3://bucket/")
                .objects.size(),
            0);
  EXPECT_EQ(Attempts(), 2);
}

TEST_F(ObjectStoreTest, RefusesWhatAUrlCannotDo) {
  const ObjectStore& store = Store({{HttpAnswer(200)}});
  const auto refusal = [](const auto& call) {
    return MessageOf<UsageError>(call);
  };
  EXPECT_THAT(refusal([&] { (void)store.List("https://h/"); }),
              HasSubstr("cannot list its files"));
  EXPECT_THAT(refusal([&] { store.Put("https://h/x?sig=s", {}); }),
              AllOf(HasSubstr("cannot be written"), Not(HasSubstr("sig"))));
  EXPECT_THAT(refusal([&] { store.Put("s3://bucket", {}); }),
              HasSubstr("cannot be written"));
  EXPECT_THAT(refusal([&] { (void)store.Stat("s3://bucket"); }),
              HasSubstr("names a bucket"));
}

TEST_F(ObjectStoreTest, UploadsAPart) {
  const ObjectStore& store =
      Store({{HttpAnswer(200)}, {HttpAnswer(200, "", "ETag: \"p\"\r\n")}});
  EXPECT_EQ(store.UploadPart(kUrl, "u/1", 7, AsBytes("part")), "\"p\"");
  EXPECT_THAT(Asked(1), AllOf(StartsWith("PUT /bucket/a%20key?partNumber=7&"
                                         "uploadId=u%2F1 HTTP"),
                              HasSubstr("\r\n\r\npart")));
}

constexpr const char* kFinished = "<CompleteMultipartUploadResult/>";

TEST_F(ObjectStoreTest, AnErrorAfterOkIsAnError) {
  const Reply none = {"HTTP/1.1 404 x\r\n\r\n"};
  const Reply failed = {HttpAnswer(
      200, "<Error><Code>InternalError</Code><Message>m</Message></Error>")};
  Store({none, failed, {HttpAnswer(200, kFinished)}})
      .CompleteUpload(kUrl, "u", {"\"p\""});
  EXPECT_EQ(Attempts(), 3);
  EXPECT_THAT(MessageOf<IoError>([&] {
                Store({none, failed}).CompleteUpload(kUrl, "u", {"\"p\""});
              }),
              HasSubstr("after status 200 (InternalError: m)"));
}

TEST_F(ObjectStoreTest, AnUploadWhoseAnswerWasLostIsFinished) {
  const Reply none = {"HTTP/1.1 404 x\r\n\r\n"};
  const Reply there = {
      "HTTP/1.1 200 x\r\nContent-Length: 4\r\nETag: \"n\"\r\n\r\n"};
  const Reply unknown = {
      HttpAnswer(404, "<Error><Code>NoSuchUpload</Code></Error>")};
  EXPECT_NO_THROW(Store({none, {HttpAnswer(503)}, unknown, there})
                      .CompleteUpload(kUrl, "u", {"\"p\""}));
  EXPECT_THAT(
      MessageOf<IoError>([&] {
        Store({there, unknown, there}).CompleteUpload(kUrl, "u", {"\"p\""});
      }),
      HasSubstr("no longer has the upload"));
}

TEST_F(ObjectStoreTest, WhatIsGoneNeedsNoRemoval) {
  EXPECT_NO_THROW(Store({{HttpAnswer(404)}}).Remove(kUrl));
  EXPECT_NO_THROW(Store({{HttpAnswer(404)}}).AbortUpload(kUrl, "u"));
  EXPECT_THAT(Asked(), StartsWith("DELETE /bucket/a%20key?uploadId=u "));
}

TEST(ObjectInfoTest, HasAVersionThatChangesWithTheObject) {
  const ObjectInfo one = {.size = 1, .etag = "\"a\""};
  const ObjectInfo other = {.size = 1, .etag = "\"b\""};
  EXPECT_EQ(one.version(), ObjectInfo(one).version());
  EXPECT_NE(one.version(), other.version());
  const ObjectInfo dated = {.size = 1, .last_modified = "today"};
  const ObjectInfo longer = {.size = 2, .last_modified = "today"};
  EXPECT_NE(dated.version(), longer.version());
  EXPECT_EQ(ObjectInfo{.size = 1}.version(), kNoVersion);
}

TEST(CloudSettingsTest, AreCheckedAndGiveANewRuntime) {
  CloudSettings settings;
  const auto runtime = SharedCloudRuntime();
  EXPECT_EQ(SharedCloudRuntime(), runtime);
  settings.connections = 0;
  EXPECT_THAT(MessageOf<UsageError>([&] { SetCloudSettings(settings); }),
              HasSubstr("connections must be between 1 and"));
  settings.connections = 2;
  SetCloudSettings(settings);
  EXPECT_EQ(cloud_settings().connections, 2);
  EXPECT_NE(SharedCloudRuntime(), runtime);
  SetCloudSettings({});
}

}  // namespace infeed::object_store_test

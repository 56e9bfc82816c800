
#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "base/error.h"
#include "records/cloud/cloud_settings.h"
#include "records/files/open_sink.h"
#include "records/files/open_source.h"
#include "records/files/shards.h"
#include "tests/support/cloud_environment.h"
#include "tests/support/loopback_server.h"
#include "tests/support/matchers.h"
#include "tests/support/throws.h"

namespace infeed {
namespace {

// A bucket with these keys, which can be found and listed.
LoopbackServer::Handler ServeBucket(std::vector<std::string> keys) {
  return [keys = std::move(keys)](const std::string& request) {
    const std::string target =
        request.substr(0, request.find(" HTTP")).substr(request.find('/'));
    if (request.starts_with("HEAD")) {
      const bool there =
          std::find(keys.begin(), keys.end(), target.substr(3)) != keys.end();
      return LoopbackServer::Reply{
          .bytes = there ? "HTTP/1.1 200 x\r\nContent-Length: 1\r\n\r\n"
                         : "HTTP/1.1 404 x\r\nContent-Length: 0\r\n\r\n"};
    }
    std::string prefix = target.substr(target.find("prefix=") + 7);
    for (std::size_t i = 0; (i = prefix.find("%2F", i)) != std::string::npos;) {
      prefix.replace(i, 3, "/");
    }
    std::string xml = "<ListBucketResult>";
    std::set<std::string> folders;
    for (const std::string& key : keys) {
      if (!key.starts_with(prefix)) {
        continue;
      }
      const std::size_t slash = key.find('/', prefix.size());
      if (slash == std::string::npos) {
        xml += "<Contents><Key>" + key + "</Key><Size>1</Size></Contents>";
      } else {
        folders.insert(key.substr(0, slash + 1));
      }
    }
    for (const std::string& folder : folders) {
      xml += "<CommonPrefixes><Prefix>" + folder + "</Prefix></CommonPrefixes>";
    }
    return LoopbackServer::Reply{
        .bytes = HttpAnswer(200, xml + "</ListBucketResult>")};
  };
}

class ObjectShardsTest : public ::testing::Test {
 protected:
  ObjectShardsTest() {
    environment_.Set("AWS_ENDPOINT_URL", server_.url());
    SetCloudSettings({});
  }

  CloudEnvironment environment_;
  LoopbackServer server_{ServeBucket(
      {"d/train-00001-of-00002", "d/train-00000-of-00002",
       "d/train-00000-of-00002.idx", "d/dataset.json", "d/other",
       "d/validation-00000-of-00001", "r/train/train-00000-of-00001",
       "r/validation/validation-00000-of-00001", "r/x/train-00000-of-00001",
       "train-00000-of-00001", "part/train-00001-of-00003"})};
};

TEST_F(ObjectShardsTest, TakesAnObjectThatIsNamed) {
  EXPECT_THAT(ListShards("s3://b/d/other"), ElementsAre("s3://b/d/other"));
  const std::string url = server_.url() + "/b/d/other";
  EXPECT_THAT(ListShards(url), ElementsAre(url));
}

TEST_F(ObjectShardsTest, TakesASchemeInCapitals) {
  EXPECT_THAT(ListShards("S3://b/d/other"), ElementsAre("s3://b/d/other"));
  const std::string url = server_.url() + "/b/d/other";
  EXPECT_THAT(ListShards("HTTP" + url.substr(4)), ElementsAre(url));
  EXPECT_TRUE(IsUrl("Gs://b"));
  for (const char* path : {"ftp://h/x", "s3:/b", "://b", "a/s3://b", "S3"}) {
    EXPECT_FALSE(IsUrl(path)) << path;
  }
}

TEST_F(ObjectShardsTest, TakesTheShardsOfAFolder) {
  for (const char* folder : {"s3://b/d", "s3://b/d/"}) {
    EXPECT_THAT(ListShards(folder),
                ElementsAre("s3://b/d/train-00000-of-00002",
                            "s3://b/d/train-00001-of-00002",
                            "s3://b/d/validation-00000-of-00001"));
  }
  EXPECT_THAT(ListShards("s3://b/r"),
              ElementsAre("s3://b/r/train/train-00000-of-00001",
                          "s3://b/r/validation/validation-00000-of-00001"));
  EXPECT_THAT(ListShards("s3://b"), ElementsAre("s3://b/train-00000-of-00001"));
}

TEST_F(ObjectShardsTest, TakesThoseThatMatch) {
  EXPECT_THAT(ListShards("s3://b/d/train-*,s3://b/d/val*"),
              ElementsAre("s3://b/d/train-00000-of-00002",
                          "s3://b/d/train-00001-of-00002",
                          "s3://b/d/validation-00000-of-00001"));
  EXPECT_THAT(ListShards("s3://b/d/*-0000[1-9]-of-0000?"),
              ElementsAre("s3://b/d/train-00001-of-00002"));
}

TEST_F(ObjectShardsTest, NamesWhatIsNotThere) {
  const auto refusal = [](const std::string& spec) {
    return MessageOf<Error>([&] { (void)ListShards(spec); });
  };
  EXPECT_THAT(refusal("s3://b/none"),
              HasSubstr("s3://b/none: cannot find the data"));
  EXPECT_THAT(refusal("s3://b/none-*"), HasSubstr("no shard matches"));
  EXPECT_THAT(refusal("s3://b/*/train-*"), HasSubstr("only the last part"));
  EXPECT_THAT(refusal(server_.url() + "/none?sig=1"),
              HasSubstr("/none: cannot find the data"));
}

TEST_F(ObjectShardsTest, NamesMissingShards) {
  for (const char* spec : {"s3://b/part", "s3://b/part/", "s3://b/part/tr*"}) {
    EXPECT_THAT(MessageOf<DataError>([&] { (void)ListShards(spec); }),
                HasSubstr("2 shards are missing: "
                          "s3://b/part/train-00000-of-00003, "
                          "s3://b/part/train-00002-of-00003;"));
  }
  EXPECT_THROW((void)FindSplit("s3://b/part", "train"), DataError);
  EXPECT_THAT(ListShards("s3://b/part/train-00001-of-00003"), SizeIs(1));
}

TEST_F(ObjectShardsTest, FindsASplitInBothLayouts) {
  EXPECT_THAT(FindSplit("s3://b/d", "train"),
              ElementsAre("s3://b/d/train-00000-of-00002",
                          "s3://b/d/train-00001-of-00002"));
  EXPECT_THAT(FindSplit("s3://b/r/", "val"),
              ElementsAre("s3://b/r/validation/validation-00000-of-00001"));
  EXPECT_THAT(FindSplit("s3://b/d", "test"), IsEmpty());
  EXPECT_THROW((void)FindSplit(server_.url(), "train"), UsageError);
}

TEST_F(ObjectShardsTest, AUrlThatCannotBeWrittenIsRefused) {
  EXPECT_THROW((void)OpenSink(server_.url() + "/b/x"), UsageError);
  EXPECT_NO_THROW((void)OpenSink("s3://b/x"));
}

}  // namespace
}  // namespace infeed

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

#include <gmock/gmock.h>

#include "records/http/http_client.h"
#include "records/http/sigv4.h"
#include "records/http/url.h"
#include "tests/support/bytes.h"
#include "tests/support/object_server.h"

// Checks signatures, as libcurl sends them, by a verifier that was written
// independently.
namespace infeed {
namespace {

class CloudSignatureTest : public testing::Test {
 protected:
  struct Call {
    std::string method = "GET";
    std::string path;  // percent-encoded
    std::string query{};
    std::string body{};
    HttpHeaders headers{};
  };

  HttpResponse Send(const Call& call) {
    HttpHeaders headers = call.headers;
    headers.emplace_back("host", "127.0.0.1:" + std::to_string(server_.port()));
    return client_.Send(
        {.method = call.method,
         .url = server_.url() + call.path +
                (call.query.empty() ? "" : "?" + call.query),
         .headers = SignedHeaders(
             {.method = call.method,
              .path = call.path,
              .query = call.query,
              .headers = headers,
              .payload_hash = Sha256Hex(AsBytes(call.body))},
             {.access_key = std::string(kS3AccessKey),
              .secret_key = std::string(kS3SecretKey),
              .session_token = ""},
             {.region = "us-east-1"}, std::chrono::system_clock::now()),
         .body = AsBytes(call.body)});
  }

  ObjectServer server_;
  HttpClient client_;
};

TEST_F(CloudSignatureTest, HoldsForAnyKey) {
  std::size_t keys = 0;
  std::vector<std::string> names = {"plain",
                                    "with space",
                                    "%41",
                                    "a=b&c=d",
                                    "dots/../x",
                                    "trailing/",
                                    "deep/er/and//double",
                                    "\xC3\xA9\xE4\xB8\xAD"};
  for (const char odd : std::string_view("+%?#~*'();@$,:\\\"<>[]^`{}|!")) {
    names.push_back(std::string("a") + odd + "b");
  }
  for (const std::string& key : names) {
    const std::string path = "/shards/" + PercentEncode(key, Slashes::kKeep);
    const HttpResponse put =
        Send({.method = "PUT", .path = path, .body = "bytes of " + key});
    EXPECT_EQ(put.status, 200) << key << put.body;
    EXPECT_EQ(Send({.path = path}).body, "bytes of " + key);
    EXPECT_EQ(server_.Keys("shards").size(), ++keys) << key;
  }
}

TEST_F(CloudSignatureTest, HoldsForAnyQuery) {
  for (const std::string query :
       {"list-type=2", "prefix=&list-type=2", "list-type=2&prefix=a%20b%2Fc",
        "list-type=2&delimiter=%2F&continuation-token=1%2FYQ%3D%3D%2B%3D",
        "uploads", "uploads=", "list-type=2&prefix=%C3%A9&max-keys=3"}) {
    const HttpResponse response = Send({.path = "/shards/", .query = query});
    EXPECT_EQ(response.status, 200) << query << response.body;
  }
}

TEST_F(CloudSignatureTest, HoldsForHeadersWithBlanks) {
  server_.Put("shards/a", "0123456789");
  const HttpResponse response =
      Send({.path = "/shards/a",
            .headers = {{"Range", "bytes=2-4"},
                        {"x-amz-meta-note", "a   b  "},
                        {"X-Amz-Request-Payer", "requester"}}});
  EXPECT_EQ(response.status, 206) << response.body;
  EXPECT_EQ(response.body, "234");
}

}  // namespace
}  // namespace infeed

#include "records/http/http_client.h"

#include <array>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "tests/support/bytes.h"
#include "tests/support/closed_port.h"
#include "tests/support/environment_variable.h"
#include "tests/support/loopback_server.h"
#include "tests/support/matchers.h"

namespace infeed::http_client_test {

using Reply = LoopbackServer::Reply;
using Then = LoopbackServer::Reply::Then;

// One exchange with a server that gives these replies.
class HttpClientTest : public ::testing::Test {
 protected:
  HttpResponse Send(std::vector<Reply> replies, HttpRequest request = {},
                    const std::string& path = "/x") {
    server_ = std::make_unique<LoopbackServer>(InTurn(std::move(replies)));
    request.url = server_->url() + path;
    return client_.Send(request);
  }
  std::string Asked() { return server_->requests().at(0); }

  std::unique_ptr<LoopbackServer> server_;
  HttpClient client_;
};

TEST_F(HttpClientTest, GetsABodyAndHeaders) {
  const HttpResponse response =
      Send({{HttpAnswer(200, "hello", "ETag: \"a\"\r\nX-Y:  z \r\n")}},
           {.headers = {{"Range", "bytes=0-4"}}});
  EXPECT_EQ(response.status, 200);
  EXPECT_EQ(response.body, "hello");
  EXPECT_EQ(response.header("etag"), "\"a\"");
  EXPECT_EQ(response.header("x-y"), "z");
  EXPECT_EQ(response.header("none"), "");
  EXPECT_EQ(response.failure, "");
  EXPECT_THAT(Asked(), AllOf(StartsWith("GET /x HTTP/1.1\r\n"),
                             HasSubstr("Range: bytes=0-4\r\n")));
}

TEST_F(HttpClientTest, AsksThisMachineWithoutAProxy) {
  const ClosedPort dead;
  const EnvironmentVariable proxy("http_proxy", dead.url());
  for (const char* const named : {"", "elsewhere.example", "*"}) {
    const EnvironmentVariable direct("no_proxy", named);
    EXPECT_EQ(Send({{HttpAnswer(200, "hello")}}).body, "hello") << named;
  }
}

TEST_F(HttpClientTest, AsksOthersThroughTheProxy) {
  const LoopbackServer proxy(InTurn({{HttpAnswer(200, "from the proxy")}}));
  const EnvironmentVariable set("http_proxy", proxy.url());
  const EnvironmentVariable direct("no_proxy", "");
  EXPECT_EQ(client_.Send({.url = "http://elsewhere.example/x"}).body,
            "from the proxy");
  EXPECT_THAT(proxy.requests().at(0),
              StartsWith("GET http://elsewhere.example/x HTTP/1.1"));
  const EnvironmentVariable named("no_proxy", "elsewhere.invalid,b.example");
  EXPECT_EQ(client_.Send({.url = "http://elsewhere.invalid/x"}).status, 0);
}

TEST_F(HttpClientTest, ReceivesIntoTheCallersMemory) {
  std::array<std::byte, 8> place{};
  const HttpResponse response =
      Send({{HttpAnswer(206, "hello")}}, {.destination = place});
  EXPECT_EQ(response.received, 5);
  EXPECT_EQ(response.body, "");
  EXPECT_EQ(AsText(std::span(place).first(5)), "hello");
  place = {};
  const HttpResponse error =
      Send({{HttpAnswer(503, "<Error/>")}}, {.destination = place});
  EXPECT_EQ(error.status, 503);
  EXPECT_EQ(error.body, "<Error/>");
  EXPECT_EQ(place[0], std::byte{0});
}

TEST_F(HttpClientTest, NeverWritesPastTheCallersMemory) {
  // A whole object in place of a range will not get shorter.
  for (const auto& [status, failure] :
       {std::pair(206, "more than the 3 bytes asked for"),
        {200, "must support range requests"}}) {
    std::array<std::byte, 4> place{};
    const HttpResponse response =
        Send({{HttpAnswer(status, "hello")}},
             {.destination = std::span(place).first(3)});
    EXPECT_EQ(response.status, 0);
    EXPECT_THAT(response.failure, HasSubstr(failure));
    EXPECT_EQ(response.may_retry, status == 206);
    EXPECT_EQ(place[3], std::byte{0});
  }
}

TEST_F(HttpClientTest, PutsABody) {
  const std::string body(100'000, 'b');
  EXPECT_EQ(Send({{HttpAnswer(200)}}, {.method = "PUT", .body = AsBytes(body)})
                .status,
            200);
  EXPECT_THAT(
      Asked(),
      AllOf(StartsWith("PUT /x "), HasSubstr("Content-Length: 100000\r\n"),
            HasSubstr("\r\n\r\n" + body), Not(HasSubstr("Expect:"))));
}

TEST_F(HttpClientTest, SendsEveryMethod) {
  for (const char* method : {"PUT", "POST"}) {
    EXPECT_EQ(Send({{HttpAnswer(200)}}, {.method = method}).status, 200);
    EXPECT_THAT(Asked(), AllOf(HasSubstr("Content-Length: 0\r\n"),
                               Not(HasSubstr("Content-Type"))));
  }
  (void)Send({{HttpAnswer(200)}}, {.method = "POST",
                                   .headers = {{"Content-Type", "a/b"}},
                                   .body = AsBytes("a=1")});
  EXPECT_THAT(Asked(),
              AllOf(StartsWith("POST"), HasSubstr("Content-Type: a/b\r\n"),
                    HasSubstr("\r\n\r\na=1")));
  EXPECT_EQ(Send({{HttpAnswer(204)}}, {.method = "DELETE"}).status, 204);
  EXPECT_THAT(Asked(), StartsWith("DELETE /x "));
  const HttpResponse head = Send(
      {{"HTTP/1.1 200 x\r\nContent-Length: 77\r\n\r\n"}}, {.method = "HEAD"});
  EXPECT_EQ(head.status, 200);
  EXPECT_EQ(head.header("content-length"), "77");
}

TEST_F(HttpClientTest, LeavesDotsInPathsAlone) {
  (void)Send({{HttpAnswer(200)}}, {}, "/a/../b/./c");
  EXPECT_THAT(Asked(), StartsWith("GET /a/../b/./c "));
}

TEST_F(HttpClientTest, UsesAConnectionAgain) {
  (void)Send({{HttpAnswer(200, "x")}});
  (void)client_.Send({.url = server_->url()});
  EXPECT_EQ(server_->connections(), 1);
  (void)client_.Send({.url = server_->url(), .fresh_connection = true});
  EXPECT_EQ(server_->connections(), 2);
}

TEST_F(HttpClientTest, FollowsARedirect) {
  const HttpResponse response =
      Send({{HttpAnswer(302, "go", "Location: /y\r\n")},
            {HttpAnswer(200, "there")}});
  EXPECT_EQ(response.status, 200);
  EXPECT_EQ(response.body, "there");
  EXPECT_THAT(server_->requests().at(1), StartsWith("GET /y "));
}

TEST_F(HttpClientTest, NeverTakesCredentialsElsewhere) {
  const HttpResponse response =
      Send({{HttpAnswer(302, "", "Location: /y\r\n")}},
           {.headers = {{"Authorization", "Bearer secret"}}});
  EXPECT_EQ(response.status, 302);
  EXPECT_EQ(server_->requests().size(), 1);
}

TEST_F(HttpClientTest, FollowsNoRedirectToAnotherProtocol) {
  const HttpResponse response =
      Send({{HttpAnswer(302, "", "Location: file:///etc/passwd\r\n")}});
  EXPECT_EQ(response.status, 0);
  EXPECT_FALSE(response.may_retry);
  EXPECT_EQ(client_.Send({.url = "file:///etc/passwd"}).status, 0);
}

TEST_F(HttpClientTest, SeesAnAnswerThatIsNoneOrCutShort) {
  for (const Reply& reply :
       {// As when an answer before it was longer than it said.
        Reply{"SSH-2.0-OpenSSH_9.2\r\n", Then::kClose},
        Reply{"HTTP/1.1 200 x\r\nContent-Length: 9\r\n\r\nhell", Then::kClose},
        Reply{"", Then::kClose}}) {
    const HttpResponse response = Send({reply});
    EXPECT_EQ(response.status, 0) << reply.bytes;
    EXPECT_TRUE(response.may_retry) << reply.bytes;
  }
}

TEST_F(HttpClientTest, LimitsHeadersAndBodies) {
  EXPECT_THAT(
      Send({{HttpAnswer(200, "", "X: " + std::string(70'000, 'x') + "\r\n")}})
          .failure,
      HasSubstr("headers"));
  EXPECT_THAT(Send({{HttpAnswer(200, "hello")}}, {.max_body_bytes = 4}).failure,
              HasSubstr("more than the 4 bytes allowed"));
}

TEST_F(HttpClientTest, WaitsNoLongerThanItMay) {
  const HttpResponse response =
      Send({{"HTTP/1.1 200 x\r\n", Then::kHang}},
           {.timeout = std::chrono::milliseconds(50)});
  EXPECT_EQ(response.status, 0);
  EXPECT_TRUE(response.may_retry);
  EXPECT_THAT(response.failure, HasSubstr("timed out"));
}

TEST_F(HttpClientTest, GivesUpOnAServerThatIsTooSlow) {
  const HttpClient client({.low_speed_time = std::chrono::seconds(1)});
  const LoopbackServer server(InTurn({{"HTTP/1.1 200 x\r\n", Then::kHang}}));
  const HttpResponse response = client.Send({.url = server.url()});
  EXPECT_EQ(response.status, 0);
  EXPECT_THAT(response.failure, HasSubstr("too slow"));
}

TEST_F(HttpClientTest, SaysThatNobodyAnswers) {
  const ClosedPort closed;
  const HttpResponse response = client_.Send({.url = closed.url()});
  EXPECT_EQ(response.status, 0);
  EXPECT_TRUE(response.may_retry);
  EXPECT_THAT(response.failure, HasSubstr("connect"));
}

TEST_F(HttpClientTest, SendsNoControlCharactersInHeaders) {
  EXPECT_THAT(
      [&] {
        (void)client_.Send({.url = "http://127.0.0.1",
                            .headers = {{"Authorization", "secret\r\nX: y"}}});
      },
      ThrowsMessage<UsageError>(
          AllOf(HasSubstr("authorization"), Not(HasSubstr("secret")))));
}

}  // namespace infeed::http_client_test

#include "records/http/http_retry.h"

#include <chrono>
#include <memory>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "base/error.h"
#include "tests/support/loopback_server.h"
#include "tests/support/matchers.h"
#include "tests/support/throws.h"

namespace infeed::http_retry_test {

using std::chrono::milliseconds;
using Reply = LoopbackServer::Reply;
using Then = LoopbackServer::Reply::Then;

const RetryPolicy kQuick = {.attempts = 4,
                            .first_delay = milliseconds(1),
                            .max_delay = milliseconds(2),
                            .max_retry_after = milliseconds(3)};

// One request, sent until it is done.
class HttpRetryTest : public ::testing::Test {
 protected:
  HttpResponse Send(std::vector<Reply> replies,
                    const RetryPolicy& policy = kQuick) {
    server_ = std::make_unique<LoopbackServer>(InTurn(std::move(replies)));
    return SendTo(policy);
  }
  // To the server that is there.
  HttpResponse SendTo(const RetryPolicy& policy) {
    request_.action = "read";
    request_.url = "s3://bucket/key";
    request_.make = [this] {
      return HttpRequest{.url = server_->url() + "/k?X-Amz-Signature=secret"};
    };
    return SendWithRetries(client_, request_, policy);
  }
  std::string Refusal(std::vector<Reply> replies,
                      const RetryPolicy& policy = kQuick) {
    return MessageOf<IoError>([&] { (void)Send(std::move(replies), policy); });
  }
  std::size_t Attempts() { return server_->requests().size(); }

  std::unique_ptr<LoopbackServer> server_;
  RetriedRequest request_;
  HttpClient client_;
};

TEST_F(HttpRetryTest, TriesAgainWhatMayPass) {
  for (const int status : {408, 429, 500, 502, 503, 504}) {
    EXPECT_EQ(Send({{HttpAnswer(status)}, {HttpAnswer(200, "a")}}).body, "a")
        << status;
    EXPECT_EQ(Attempts(), 2);
  }
}

TEST_F(HttpRetryTest, TriesATruncatedBodyAgainOnANewConnection) {
  const HttpResponse response =
      Send({{"HTTP/1.1 200 x\r\nContent-Length: 9\r\n\r\nhell", Then::kClose},
            {"", Then::kClose},
            {HttpAnswer(200, "whole")}});
  EXPECT_EQ(response.body, "whole");
  EXPECT_EQ(server_->connections(), 3);
}

TEST_F(HttpRetryTest, TriesARefusalOnlyOnce) {
  for (const int status : {400, 401, 403, 404, 412, 416, 501}) {
    EXPECT_THAT(Refusal({{HttpAnswer(status)}}),
                HasSubstr("answered " + std::to_string(status)));
    EXPECT_EQ(Attempts(), 1);
  }
}

TEST_F(HttpRetryTest, SaysAllThatHelpsAndNoSecret) {
  EXPECT_EQ(
      Refusal({{HttpAnswer(503,
                           "<Error><Code>SlowDown</Code>"
                           "<Message>Less,\nplease.</Message></Error>")}}),
      "s3://bucket/key: cannot read: the server answered 503 "
      "(SlowDown: Less, please.), after 4 attempts (run again later)");
  EXPECT_EQ(Attempts(), 4);
  const std::string text = Refusal(
      {{HttpAnswer(403, "<Error><Code>C</Code><Message>" +
                            std::string(10'000, 'x') + "</Message></Error>")}});
  EXPECT_LT(text.size(), 500);
  EXPECT_THAT(text, HasSubstr("credentials"));
  EXPECT_THAT(Refusal({{HttpAnswer(301)}}), HasSubstr("AWS_REGION"));
  EXPECT_THAT(Refusal({{HttpAnswer(404)}}), HasSubstr("check the URL"));
}

TEST_F(HttpRetryTest, SaysThatTheNetworkFailed) {
  EXPECT_THAT(Refusal({{"", Then::kClose}}),
              AllOf(StartsWith("s3://bucket/key: cannot read: "),
                    HasSubstr("after 4 attempts"), HasSubstr("network"),
                    Not(HasSubstr("secret"))));
}

TEST_F(HttpRetryTest, EndsAtItsDeadline) {
  RetryPolicy policy = kQuick;
  policy.deadline = milliseconds(30);
  policy.attempts = 1'000'000;
  EXPECT_THAT(Refusal({{"HTTP/1.1 200 x\r\n", Then::kHang}}, policy),
              HasSubstr("timed out"));
  EXPECT_EQ(Attempts(), 1);
}

TEST_F(HttpRetryTest, WaitsAsLongAsTheServerDemandsUpToItsCap) {
  RetryPolicy policy = kQuick;
  policy.max_retry_after = std::chrono::hours(2);
  policy.deadline = std::chrono::minutes(1);
  EXPECT_THAT(Refusal({{HttpAnswer(503, "", "Retry-After: 3600\r\n")}}, policy),
              HasSubstr("after 1 attempt ("));
  EXPECT_EQ(Send({{HttpAnswer(503, "", "Retry-After: 3600\r\n")},
                  {HttpAnswer(503, "", "Retry-After: soon\r\n")},
                  {HttpAnswer(200, "a")}})
                .body,
            "a");
}

TEST_F(HttpRetryTest, AStopEndsARequestThatIsNotAnswered) {
  std::stop_source stop;
  server_ = std::make_unique<LoopbackServer>(
      [&](const std::string& /*request*/) -> Reply {
        stop.request_stop();
        return {.bytes = "", .then = Then::kHang};
      });
  RetryPolicy policy = kQuick;
  policy.stop = stop.get_token();
  EXPECT_THROW((void)SendTo(policy), StoppedError);
}

TEST_F(HttpRetryTest, AStopEndsAWaitBetweenAttempts) {
  std::stop_source stop;
  server_ = std::make_unique<LoopbackServer>(
      [](const std::string& /*request*/) -> Reply {
        return {.bytes = HttpAnswer(503, "", "Retry-After: 3600\r\n")};
      });
  RetryPolicy policy = kQuick;
  policy.max_retry_after = std::chrono::hours(2);
  policy.deadline = std::chrono::hours(24);
  policy.stop = stop.get_token();
  std::jthread stopper([&] {
    while (Attempts() == 0) {
      std::this_thread::yield();
    }
    stop.request_stop();
  });
  EXPECT_THROW((void)SendTo(policy), StoppedError);
}

TEST_F(HttpRetryTest, AfterAStopNothingIsSent) {
  std::stop_source stop;
  stop.request_stop();
  RetryPolicy policy = kQuick;
  policy.stop = stop.get_token();
  EXPECT_THROW((void)Send({{HttpAnswer(200, "a")}}, policy), StoppedError);
  EXPECT_EQ(Attempts(), 0);
}

TEST_F(HttpRetryTest, AsksTheCallerFirst) {
  request_.judge =
      [](const HttpResponse& response) -> std::optional<HttpVerdict> {
    if (response.status == 404) {
      return HttpVerdict{};
    }
    if (response.body == "bad") {
      return HttpVerdict{HttpVerdict::Kind::kRetry, "it was bad"};
    }
    return std::nullopt;
  };
  EXPECT_EQ(Send({{HttpAnswer(404)}}).status, 404);
  EXPECT_EQ(Send({{HttpAnswer(200, "bad")}, {HttpAnswer(200, "good")}}).body,
            "good");
  EXPECT_THAT(Refusal({{HttpAnswer(200, "bad")}}),
              HasSubstr("it was bad, after 4 attempts"));
}

}  // namespace infeed::http_retry_test

#include "tools/input/metrics_server.h"

#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include "base/error.h"
#include "tests/support/http_get.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace infeed {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

std::optional<WebPage> OnePage(std::string_view path) {
  return path == "/page" ? std::optional(WebPage{"text/plain", "some text"})
                         : std::nullopt;
}

TEST(MetricsServerTest, GivesItsPages) {
  const MetricsServer server(0, OnePage);
  EXPECT_GT(server.port(), 0);
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(HttpGet(server.port(), "/page"),
              "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n"
              "Content-Length: 9\r\nConnection: close\r\n\r\nsome text");
  }
}

TEST(MetricsServerTest, LeavesTheQueryOut) {
  const MetricsServer server(0, OnePage);
  EXPECT_THAT(HttpGet(server.port(), "/page?x=1"), HasSubstr("some text"));
}

TEST(MetricsServerTest, HasNoOtherPages) {
  const MetricsServer server(0, OnePage);
  EXPECT_THAT(HttpGet(server.port(), "/"), StartsWith("HTTP/1.1 404 "));
  EXPECT_THAT(HttpGet(server.port(), "/page/../etc/passwd"),
              StartsWith("HTTP/1.1 404 "));
}

TEST(MetricsServerTest, TakesGetAlone) {
  const MetricsServer server(0, OnePage);
  EXPECT_THAT(Exchange(server.port(), "POST /page HTTP/1.1\r\n\r\n"),
              StartsWith("HTTP/1.1 405 "));
}

TEST(MetricsServerTest, RefusesWhatIsNoRequest) {
  const MetricsServer server(0, OnePage);
  EXPECT_THAT(Exchange(server.port(), "\r\n\r\n"), StartsWith("HTTP/1.1 400 "));
  EXPECT_THAT(Exchange(server.port(), "GET"), StartsWith("HTTP/1.1 400 "));
  EXPECT_THAT(Exchange(server.port(), "GET /page HTTP/1.1\r\n"),
              StartsWith("HTTP/1.1 400 "));
  EXPECT_THAT(Exchange(server.port(), std::string(8192, 'x')),
              StartsWith("HTTP/1.1 400 "));
  EXPECT_EQ(Exchange(server.port(), ""), "");
  EXPECT_THAT(HttpGet(server.port(), "/page"), HasSubstr("some text"));
}

TEST(MetricsServerTest, GivesALongPageWhole) {
  const std::string body(4 << 20, 'x');
  const MetricsServer server(0, [&](std::string_view) {
    return WebPage{"text/plain", body};
  });
  EXPECT_THAT(HttpGet(server.port(), "/").size(), body.size() + 89);
}

TEST(MetricsServerTest, ServesOneAfterTheOther) {
  const MetricsServer server(0, OnePage);
  std::vector<std::jthread> clients;
  for (int i = 0; i < 8; ++i) {
    clients.emplace_back([&] {
      EXPECT_THAT(HttpGet(server.port(), "/page"), HasSubstr("some text"));
    });
  }
}

// Nothing here waits for a client's patience to end.
TEST(MetricsServerTest, ServesOthersWhileClientsAreSilent) {
  const MetricsServer server(0, OnePage, std::chrono::hours(1));
  const int silent = ConnectTo(server.port());
  const int slow = ConnectTo(server.port());
  ASSERT_EQ(::send(slow, "GET /pa", 7, MSG_NOSIGNAL), 7);
  EXPECT_THAT(HttpGet(server.port(), "/page"), HasSubstr("some text"));
  ASSERT_EQ(::send(slow, "ge HTTP/1.1\r\n\r\n", 15, MSG_NOSIGNAL), 15);
  EXPECT_THAT(ReadAll(slow), HasSubstr("some text"));
  ::close(silent);
}

TEST(MetricsServerTest, ServesOthersWhileOneDoesNotRead) {
  const std::string body(64 << 20, 'x');  // More than sockets hold.
  const MetricsServer server(
      0,
      [&](std::string_view path) {
        return WebPage{"text/plain", path == "/long" ? body : "short"};
      },
      std::chrono::hours(1));
  const int slow = ConnectTo(server.port());
  constexpr std::string_view kLong = "GET /long HTTP/1.1\r\n\r\n";
  ASSERT_EQ(::send(slow, kLong.data(), kLong.size(), MSG_NOSIGNAL),
            static_cast<ssize_t>(kLong.size()));
  char first = 0;
  ASSERT_EQ(::recv(slow, &first, 1, 0), 1);  // The answer is on its way.
  EXPECT_THAT(HttpGet(server.port(), "/page"), HasSubstr("short"));
  ::close(slow);
}

TEST(MetricsServerTest, TheFirstOfTooManyClientsGoes) {
  const MetricsServer server(0, OnePage, std::chrono::hours(1));
  std::vector<int> silent;
  for (int i = 0; i < 65; ++i) {
    silent.push_back(ConnectTo(server.port()));
  }
  EXPECT_EQ(ReadAll(silent.front()), "");
  EXPECT_THAT(HttpGet(server.port(), "/page"), HasSubstr("some text"));
  for (std::size_t i = 1; i < silent.size(); ++i) {
    ::close(silent[i]);
  }
}

TEST(MetricsServerTest, ASilentClientGoesInTime) {
  const MetricsServer server(0, OnePage, std::chrono::milliseconds(1));
  EXPECT_EQ(ReadAll(ConnectTo(server.port())), "");
}

TEST(MetricsServerTest, EndsWhileAClientIsSilent) {
  int client = -1;
  int port = 0;
  {
    const MetricsServer server(0, OnePage);
    port = server.port();
    client = ConnectTo(port);
    EXPECT_GE(client, 0);
  }
  EXPECT_LT(ConnectTo(port), 0);
  ::close(client);
}

TEST(MetricsServerTest, SaysThatAPortIsTaken) {
  const MetricsServer server(0, OnePage);
  try {
    const MetricsServer second(server.port(), OnePage);
    FAIL() << "both have it";
  } catch (const UsageError& error) {
    EXPECT_THAT(error.what(), HasSubstr("cannot listen on 127.0.0.1"));
  }
}

}  // namespace
}  // namespace infeed

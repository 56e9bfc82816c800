// Connections from strangers: whatever they send, they are not accepted and do
// not keep the ranks from connecting.

#include "trainer/ranks/meeting.h"

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "base/descriptor.h"
#include "base/error.h"
#include "tests/support/closed_port.h"
#include "tests/support/listening_sockets.h"
#include "tests/support/matchers.h"
#include "tests/support/star_test.h"
#include "tests/support/throws.h"

namespace infeed {
namespace {

using namespace std::chrono_literals;

// A connection that sends any bytes.
class StrangerAt {
 public:
  explicit StrangerAt(int port) : socket_(ConnectTo("127.0.0.1", port, 60s)) {}

  // How much of it was sent before the other end closed.
  std::size_t Say(std::string_view bytes) {
    std::size_t sent = 0;
    while (sent < bytes.size()) {
      pollfd wait{.fd = socket_.get(), .events = POLLOUT, .revents = 0};
      EXPECT_EQ(::poll(&wait, 1, 60'000), 1);
      const ssize_t got = ::send(socket_.get(), bytes.data() + sent,
                                 bytes.size() - sent, MSG_NOSIGNAL);
      if (got <= 0) {
        break;
      }
      sent += static_cast<std::size_t>(got);
    }
    return sent;
  }

  // The bytes received until the other end closes.
  std::string HearToTheEnd() {
    std::string heard;
    std::array<char, 4096> buffer{};
    for (;;) {
      pollfd wait{.fd = socket_.get(), .events = POLLIN, .revents = 0};
      if (::poll(&wait, 1, 60'000) != 1) {
        ADD_FAILURE() << "it is not dropped";
        return heard;
      }
      const ssize_t got =
          ::recv(socket_.get(), buffer.data(), buffer.size(), 0);
      if (got <= 0) {  // A closed connection, or one that was reset.
        return heard;
      }
      heard.append(buffer.data(), static_cast<std::size_t>(got));
    }
  }

 private:
  Descriptor socket_;
};

// A frame of that length, of which no more than the head is there.
std::string HeadOf(FrameKind kind, std::uint64_t length) {
  std::string head(1, static_cast<char>(kind));
  for (int i = 0; i < 8; ++i) {
    head += static_cast<char>(length >> (8 * i) & 0xff);
  }
  return head;
}

std::string Greeting(std::string_view body) {
  return HeadOf(FrameKind::kHello, body.size()) + std::string(body);
}

// Rank 0's side of a meeting of two, in a thread.
class RankMeetingTest : public StarTest {
 protected:
  void BeginMeeting(MeetingOptions options = {}) {
    options.timeout = kLong;
    options.say = [this](const std::string& line) { lines_.push_back(line); };
    zero_ = std::jthread([this, options] {
      error_ = MessageOf<IoError>(
          [&] { (void)AwaitRanks(listener(), StarPlace(0, 2), options); });
    });
  }
  // Rank 1 comes, and both have met. It may be too slow for a small patience:
  // then it comes once more.
  void EndMeeting() {
    while (!MessageOf<IoError>([&] { (void)Meet(1, 2); }).empty()) {
    }
    zero_.join();
    EXPECT_EQ(error_, "");
  }
  // Rank 1 came and said too much.
  void ExpectARankIsGone() {
    zero_.join();
    EXPECT_EQ(error_, "rank 1 disconnected before all ranks had connected");
  }

  [[nodiscard]] StrangerAt Stranger() const {
    return StrangerAt(listener().port());
  }
  // Rank 0's answer to these bytes; all ranks connect.
  std::string AnswerTo(std::string_view bytes) {
    lines_.clear();
    BeginMeeting();
    StrangerAt stranger = Stranger();
    stranger.Say(bytes);
    const std::string heard = stranger.HearToTheEnd();
    EndMeeting();
    EXPECT_THAT(lines(), SizeIs(1));
    return heard;
  }
  [[nodiscard]] const std::vector<std::string>& lines() const { return lines_; }

 private:
  std::vector<std::string> lines_;
  std::string error_;
  std::jthread zero_;
};

TEST_F(RankMeetingTest, SilentConnectionsKeepNobodyFromMeeting) {
  BeginMeeting();
  std::vector<StrangerAt> silent;
  for (int i = 0; i < 5; ++i) {
    silent.push_back(Stranger());
  }
  silent.back().Say(Greeting("1 0 token").substr(0, 11));
  EndMeeting();
}

TEST_F(RankMeetingTest, DropsWhoeverDoesNotSayInTimeWhoItIs) {
  EXPECT_EQ(MeetingOptions().patience, 10s);
  BeginMeeting({.patience = 20ms});
  StrangerAt silent = Stranger();
  StrangerAt slow = Stranger();
  slow.Say(Greeting("1 0 token").substr(0, 11));
  EXPECT_EQ(silent.HearToTheEnd(), "");
  EXPECT_EQ(slow.HearToTheEnd(), "");
  EndMeeting();
  ASSERT_GE(lines().size(), 2U);
  EXPECT_THAT(lines()[0],
              AllOf(StartsWith("dropped a connection from 127.0.0.1:"),
                    HasSubstr("it has not sent its rank in time")));
}

TEST_F(RankMeetingTest, DropsTheOldestOfManySilentConnections) {
  BeginMeeting({.patience = kLong});
  std::vector<StrangerAt> silent;
  for (int i = 0; i < 100; ++i) {
    silent.push_back(Stranger());
  }
  silent.front().HearToTheEnd();
  EndMeeting();
  EXPECT_THAT(
      lines()[0],
      HasSubstr(
          "it has sent no greeting, and there are too many such connections"));
}

TEST_F(RankMeetingTest, DropsAWrongTokenWithOneLine) {
  EXPECT_THAT(AnswerTo(Greeting("1 0 other")),
              HasSubstr("rank 0 refuses this process: its token is not rank "
                        "0's: all ranks need the same INFEED_RANK_TOKEN"));
  EXPECT_THAT(lines()[0], HasSubstr("its token is not rank 0's"));
}

TEST_F(RankMeetingTest, DropsWhoeverIsNoRankOfTheAttempt) {
  for (const auto& [greeting, why] :
       std::vector<std::pair<std::string, std::string>>{
           {"1 0 ", "its token"},
           {"1 0 toke", "its token"},
           {"1 0 token ", "its token"},
           {"7 0 ", "its token"},
           {"0 0 token", "its rank is"},
           {"2 0 token", "its rank is"},
           {"1 3 token", "it belongs to an earlier attempt of the launcher"}}) {
    EXPECT_THAT(AnswerTo(Greeting(greeting)), HasSubstr(why)) << greeting;
  }
}

// More than 4 KiB is refused by its length, before any of it has come.
TEST_F(RankMeetingTest, DropsOtherProtocolsAndGiantLengths) {
  for (const std::string& bytes :
       {std::string("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"),
        std::string(100'000, '\xff'), std::string(100'000, '\0'),
        Greeting("no numbers"), Greeting(""), Greeting("1"), Greeting("-1 0 t"),
        HeadOf(FrameKind::kAnswer, 0), HeadOf(FrameKind::kRead, 0),
        HeadOf(FrameKind::kHello, 4097),
        HeadOf(FrameKind::kHello, std::uint64_t{3} << 30),
        HeadOf(FrameKind::kHello, ~std::uint64_t{0})}) {
    EXPECT_EQ(AnswerTo(bytes), "");
    EXPECT_THAT(lines().back(), HasSubstr("it is not a rank of this run"));
  }
}

// Neither one that waits for a token nor one that has it is read without an
// end: what is sent is in the system's buffers at most.
TEST_F(RankMeetingTest, TakesNoMoreThanAGreeting) {
  const std::string much(std::size_t{64} << 20, '\1');
  BeginMeeting();
  StrangerAt stranger = Stranger();
  EXPECT_LT(stranger.Say(HeadOf(FrameKind::kHello, 4096) + much),
            much.size() / 2);
  EndMeeting();
  BeginMeeting();
  StrangerAt rank = Stranger();
  EXPECT_LT(rank.Say(Greeting("1 0 token") + much), much.size() / 2);
  ExpectARankIsGone();
}

TEST_F(RankMeetingTest, NamesTheFirstOfManyStrangersAlone) {
  BeginMeeting();
  for (int i = 0; i < 20; ++i) {
    StrangerAt stranger = Stranger();
    stranger.Say("GET / HTTP/1.1\r\n\r\n");
    stranger.HearToTheEnd();
  }
  EndMeeting();
  ASSERT_THAT(lines(), SizeIs(8));
  EXPECT_THAT(lines().back(), HasSubstr("later ones are not reported"));
}

// The first one stays; rank 2 comes last.
TEST_F(RankMeetingTest, RefusesASecondProcessOfTheSameRank) {
  std::jthread zero([&] { EXPECT_THAT(Meet(0, 3), SizeIs(3)); });
  std::atomic<int> refused = 0;
  const auto join_twice = [&] {
    const std::string message = MessageOf<IoError>([&] { (void)Meet(1, 3); });
    if (!message.empty()) {
      EXPECT_THAT(message, HasSubstr("another process has rank 1 already"));
      ++refused;
      (void)Meet(2, 3);
    }
  };
  std::jthread one(join_twice);
  std::jthread other(join_twice);
  one.join();
  other.join();
  EXPECT_EQ(refused, 1);
}

TEST_F(RankMeetingTest, NamesThoseWhoHaveNotCome) {
  FrameStream one(ConnectTo("127.0.0.1", listener().port(), kLong));
  one.Put(FrameKind::kHello, "1 0 token");
  ASSERT_TRUE(one.Flush());
  const std::string message = MessageOf<IoError>([&] {
    (void)AwaitRanks(listener(), StarPlace(0, 4), {.timeout = 300ms});
  });
  EXPECT_THAT(
      message,
      HasSubstr("2 of 4 ranks have not connected within 0.3 s: rank 2, 3"));
  const std::optional<Frame> told =
      one.Await(FrameStream::Clock::now() + kLong);
  ASSERT_TRUE(told.has_value());
  EXPECT_EQ(told->body, message);
}

// "ADDRESS" of the one that listens at that port, in hexadecimal.
std::vector<std::string> AddressesAt(int port) {
  std::vector<std::string> addresses;
  for (const ListeningSocket& socket : ListeningSocketsOf(::getpid())) {
    if (socket.port == port) {
      addresses.push_back(socket.address);
    }
  }
  return addresses;
}

TEST(RankListenerTest, LoopbackListensOnThisMachineOnly) {
  const std::string loopback6 = "00000000000000000000000001000000";
  for (const auto& [address, listens] :
       std::vector<std::pair<std::string, std::string>>{
           {"127.0.0.1", "0100007F"},
           {"localhost", "0100007F"},
           {"127.0.0.2", "0200007F"},
           {"::1", loopback6}}) {
    const RankListener listener(address);
    EXPECT_THAT(AddressesAt(listener.port()), ElementsAre(listens));
    EXPECT_TRUE(ConnectTo(address, listener.port(), 60s).is_open());
  }
  const RankListener listener("10.0.0.7");
  EXPECT_THAT(AddressesAt(listener.port()),
              ElementsAre("00000000000000000000000000000000"));
}

TEST(RankListenerTest, TakesALaunchersSocketButNoPortThatIsTaken) {
  const RankListener launcher("127.0.0.1");
  const int port = launcher.port();
  EXPECT_THAT(
      MessageOf<IoError>([&] { const RankListener second("127.0.0.1", port); }),
      AllOf(HasSubstr("127.0.0.1:" + std::to_string(port)),
            HasSubstr("give a port that is free")));
  const RankListener listener(Descriptor(::dup(launcher.descriptor())));
  EXPECT_EQ(listener.port(), port);
  EXPECT_THAT(MessageOf<UsageError>([&] {
                const RankListener none(Descriptor(::dup(STDERR_FILENO)));
              }),
              HasSubstr("INFEED_RANK_LISTENER is not a listening socket"));
}

TEST(ConnectToTest, WaitsUntilRankZeroListens) {
  const int port = RankListener("127.0.0.1").port();
  bool is_open = false;
  std::jthread one(
      [&] { is_open = ConnectTo("127.0.0.1", port, 60s).is_open(); });
  std::this_thread::sleep_for(50ms);  // Long enough to be refused once.
  const RankListener listener("127.0.0.1", port);
  one.join();
  EXPECT_TRUE(is_open);
}

TEST(ConnectToTest, NamesTheMasterThatDoesNotAnswer) {
  const ClosedPort closed;
  EXPECT_THAT(MessageOf<IoError>(
                  [&] { (void)ConnectTo("127.0.0.1", closed.port(), 50ms); }),
              AllOf(HasSubstr("127.0.0.1:" + std::to_string(closed.port())),
                    HasSubstr("within 0.05 s"), HasSubstr("is it running")));
  EXPECT_THAT(
      MessageOf<IoError>([] { (void)ConnectTo("no.such.invalid", 1, 50ms); }),
      HasSubstr("no such host"));
}

}  // namespace
}  // namespace infeed

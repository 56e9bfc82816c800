#include <atomic>
#include <chrono>
#include <future>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "tests/pipeline/rpc/rpc_fixture.h"
#include "tests/support/matchers.h"
#include "tests/support/throws.h"

namespace infeed::rpc_test {
namespace {

const RpcAccess kWithToken = {.token = std::string(40, 'a')};

TEST(RpcTest, EchoesRequestsOfAnySize) {
  const auto server = Serve(Echo);
  const auto channel = ConnectTo(server->port());
  for (const std::size_t size : {0, 1, 10'000'000}) {
    std::string request(size, 'x');
    if (size > 1) {
      request[size / 2] = 'y';
    }
    const Answer answer = Ask(*channel, request);
    EXPECT_TRUE(answer.status.is_ok()) << answer.status.message;
    EXPECT_TRUE(answer.text == request) << size;
  }
}

TEST(RpcTest, SendsPiecesInTheirOrderAndReleasesThem) {
  std::vector<std::weak_ptr<const void>> owners;
  const auto server = Serve([&](const std::shared_ptr<RpcServerCall>& call) {
    std::vector<RpcPiece> pieces;
    for (const std::string& text :
         {std::string("head"), std::string(), std::string(3'000'000, 'm'),
          std::string("tail")}) {
      pieces.push_back(PieceOf(text));
      owners.emplace_back(pieces.back().owner);
    }
    call->Finish({}, std::move(pieces));
  });
  const auto channel = ConnectTo(server->port());
  const Answer answer = Ask(*channel);
  EXPECT_TRUE(answer.text == "head" + std::string(3'000'000, 'm') + "tail");
  ASSERT_EQ(owners.size(), 4U);
  for (const auto& owner : owners) {
    EXPECT_TRUE(Eventually([&] { return owner.expired(); }));
  }
}

TEST(RpcTest, PassesEachStatus) {
  RpcStatus sent;
  const auto server = Serve([&](const std::shared_ptr<RpcServerCall>& call) {
    call->Finish(sent, {});
  });
  const auto channel = ConnectTo(server->port());
  for (const RpcCode code :
       {RpcCode::kUnavailable, RpcCode::kDeadline, RpcCode::kCancelled,
        RpcCode::kBusy, RpcCode::kNotOpen, RpcCode::kRefused, RpcCode::kInvalid,
        RpcCode::kFailed}) {
    sent = {.code = code, .message = "why not"};
    const Answer answer = Ask(*channel);
    EXPECT_EQ(answer.status.code, code);
    EXPECT_EQ(answer.status.message, "why not");
    EXPECT_EQ(answer.text, "");
  }
}

TEST(RpcTest, ShortensAMessageThatNoReplyCouldCarry) {
  const auto server = Serve([](const std::shared_ptr<RpcServerCall>& call) {
    call->Finish({.code = RpcCode::kBusy, .message = std::string(100'000, 'm')},
                 {});
  });
  const auto channel = ConnectTo(server->port());
  const Answer answer = Ask(*channel);
  EXPECT_EQ(answer.status.code, RpcCode::kBusy);
  EXPECT_THAT(answer.status.message, HasSubstr("mmmm"));
}

TEST(RpcTest, FailsACallThatIsDestroyedUnanswered) {
  const auto server = Serve([](const std::shared_ptr<RpcServerCall>&) {});
  const auto channel = ConnectTo(server->port());
  EXPECT_EQ(Ask(*channel).status.code, RpcCode::kFailed);
}

TEST(RpcTest, EndsACallAtItsDeadline) {
  HeldCalls held;
  const auto server = Serve(held.handler());
  const auto channel = ConnectTo(server->port());
  auto answer = Begin(*channel, "/test/Method", "", std::chrono::seconds(1));
  EXPECT_EQ(answer.get().status.code, RpcCode::kDeadline);
}

TEST(RpcTest, CancelsCallsWhenTheirChannelIsDestroyed) {
  HeldCalls held;
  const auto server = Serve(held.handler());
  auto channel = ConnectTo(server->port());
  auto answer = Begin(*channel, "/test/Method", "", kPatience);
  const auto call = held.First();
  EXPECT_FALSE(call->is_cancelled());
  channel.reset();
  ASSERT_EQ(answer.wait_for(std::chrono::seconds(0)),
            std::future_status::ready);
  EXPECT_EQ(answer.get().status.code, RpcCode::kCancelled);
  EXPECT_TRUE(Eventually([&] { return call->is_cancelled(); }));
  std::vector<RpcPiece> reply;
  reply.push_back(PieceOf("late"));
  const std::weak_ptr<const void> owner = reply.back().owner;
  call->Finish({}, std::move(reply));
  EXPECT_TRUE(owner.expired());
}

TEST(RpcTest, LetsDoneMakeCallsWhileTheChannelIsDestroyed) {
  HeldCalls held;
  const auto server = Serve(held.handler());
  auto channel = ConnectTo(server->port());
  RpcChannel& caller = *channel;
  std::promise<RpcCode> second;
  caller.Call("/test/Method", "", kPatience, [&](const RpcStatus&, RpcPieces) {
    caller.Call("/test/Method", "", kPatience,
                [&](const RpcStatus& status, RpcPieces) {
                  second.set_value(status.code);
                });
  });
  const auto call = held.First();
  channel.reset();
  EXPECT_EQ(second.get_future().get(), RpcCode::kCancelled);
}

TEST(RpcTest, HasChannelsAgainAfterTheLastOneIsGone) {
  const auto server = Serve(Echo);
  for (int i = 0; i < 3; ++i) {
    const auto first = ConnectTo(server->port());
    const auto second = ConnectTo(server->port());
    EXPECT_EQ(Ask(*first, "one").text, "one");
    EXPECT_EQ(Ask(*second, "two").text, "two");
  }
}

TEST(RpcTest, EndsHeldCallsWithTheirServer) {
  HeldCalls held;
  auto server = Serve(held.handler());
  const auto channel = ConnectTo(server->port());
  auto answer = Begin(*channel, "/test/Method", "ask", kPatience);
  const auto call = held.First();
  server.reset();
  EXPECT_FALSE(answer.get().status.is_ok());
  EXPECT_TRUE(call->is_cancelled());
  EXPECT_EQ(call->request(), "ask");
  call->Finish({}, {});
}

TEST(RpcTest, FinishesCallsWhileTheServerIsDestroyed) {
  HeldCalls held;
  auto server = Serve(held.handler());
  const auto channel = ConnectTo(server->port());
  auto answer = Begin(*channel, "/test/Method", "", kPatience);
  const auto call = held.First();
  auto destroyed = std::async(std::launch::async, [&] { server.reset(); });
  std::vector<RpcPiece> reply;
  reply.push_back(PieceOf("in time"));
  call->Finish({}, std::move(reply));
  EXPECT_EQ(answer.get().text, "in time");
  destroyed.get();
}

TEST(RpcTest, AcceptsTheRightTokenOnly) {
  std::atomic<int> handled = 0;
  const auto server = Serve(
      [&](const std::shared_ptr<RpcServerCall>& call) {
        ++handled;
        Echo(call);
      },
      kWithToken);
  EXPECT_EQ(Ask(*ConnectTo(server->port(), kWithToken), "hi").text, "hi");
  EXPECT_EQ(handled, 1);
  for (const std::string& wrong :
       {std::string(), std::string(40, 'b'), std::string(41, 'a')}) {
    const auto channel = ConnectTo(server->port(), {.token = wrong});
    for (const std::size_t size : {1, 5'000'000}) {
      EXPECT_EQ(Ask(*channel, std::string(size, 'x')).status.code,
                RpcCode::kRefused);
    }
  }
  EXPECT_EQ(handled, 1);
}

TEST(RpcTest, RefusesARequestThatIsTooLarge) {
  std::atomic<int> handled = 0;
  const auto server = Serve(
      [&](const std::shared_ptr<RpcServerCall>& call) {
        ++handled;
        Echo(call);
      },
      {}, 1000);
  const auto channel = ConnectTo(server->port());
  EXPECT_EQ(Ask(*channel, std::string(1001, 'x')).status.code,
            RpcCode::kInvalid);
  EXPECT_EQ(handled, 0);
  EXPECT_TRUE(Ask(*channel, std::string(1000, 'x')).status.is_ok());
}

TEST(RpcTest, RefusesAReplyThatIsTooLarge) {
  const auto server = Serve(Echo);
  const auto channel = ConnectTo(server->port(), {}, 1000);
  EXPECT_EQ(Ask(*channel, std::string(1'000'000, 'x')).status.code,
            RpcCode::kInvalid);
  EXPECT_TRUE(Ask(*channel, std::string(1000, 'x')).status.is_ok());
}

TEST(RpcTest, AnswersForItsHealthWithoutAToken) {
  const auto server = Serve(Echo, kWithToken);
  const auto channel = ConnectTo(server->port());
  const Answer answer = Ask(*channel, "", "/grpc.health.v1.Health/Check");
  EXPECT_TRUE(answer.status.is_ok()) << answer.status.message;
  EXPECT_EQ(answer.text, "\x08\x01");  // field 1: SERVING
}

TEST(RpcTest, RefusesToListenAtAPortInUse) {
  const auto server = Serve(Echo);
  const std::string address = "127.0.0.1:" + std::to_string(server->port());
  const std::string message = MessageOf<IoError>([&] {
    static_cast<void>(LoadedRpcLibrary().Listen(address, {}, kMostBytes, Echo));
  });
  EXPECT_THAT(message, HasSubstr(address));
}

}  // namespace
}  // namespace infeed::rpc_test

#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "pipeline/remote/rpc.h"
#include "pipeline/remote/rpc_plugin.h"

namespace infeed::rpc_test {

// Long enough for a busy machine.
constexpr std::chrono::milliseconds kPatience{60'000};
constexpr std::int64_t kMostBytes = 16 << 20;

struct Answer {
  RpcStatus status;
  std::string text;
};

inline std::future<Answer> Begin(RpcChannel& channel, std::string_view method,
                                 std::string request,
                                 std::chrono::milliseconds timeout) {
  auto answer = std::make_shared<std::promise<Answer>>();
  std::future<Answer> future = answer->get_future();
  channel.Call(method, std::move(request), timeout,
               [answer](const RpcStatus& status, RpcPieces reply) {
                 std::string text;
                 for (const std::span<const std::byte> piece : reply) {
                   text.append(reinterpret_cast<const char*>(piece.data()),
                               piece.size());
                 }
                 answer->set_value({status, std::move(text)});
               });
  return future;
}

inline Answer Ask(RpcChannel& channel, std::string request = {},
                  std::string_view method = "/test/Method") {
  return Begin(channel, method, std::move(request), kPatience).get();
}

inline RpcPiece PieceOf(std::string text) {
  const auto owner = std::make_shared<const std::string>(std::move(text));
  return {.bytes = std::as_bytes(std::span(*owner)), .owner = owner};
}

inline void Echo(const std::shared_ptr<RpcServerCall>& call) {
  std::vector<RpcPiece> pieces;
  pieces.push_back(PieceOf(std::string(call->request())));
  call->Finish({}, std::move(pieces));
}

inline std::unique_ptr<RpcServer> Serve(RpcServer::Handler handler,
                                        const RpcAccess& access = {},
                                        std::int64_t max_request = kMostBytes) {
  return LoadedRpcLibrary().Listen("127.0.0.1:0", access, max_request,
                                   std::move(handler));
}

inline std::unique_ptr<RpcChannel> ConnectTo(
    int port, const RpcAccess& access = {},
    std::int64_t max_reply = kMostBytes) {
  return LoadedRpcLibrary().Connect("127.0.0.1:" + std::to_string(port), access,
                                    max_reply);
}

// Calls that a handler keeps.
class HeldCalls {
 public:
  [[nodiscard]] RpcServer::Handler handler() {
    return [this](std::shared_ptr<RpcServerCall> call) {
      const std::scoped_lock lock(mutex_);
      calls_.push_back(std::move(call));
      if (calls_.size() == 1) {
        first_.set_value(calls_.front());
      }
    };
  }

  // Waits for it.
  [[nodiscard]] std::shared_ptr<RpcServerCall> First() {
    return first_.get_future().get();
  }

 private:
  std::mutex mutex_;
  std::vector<std::shared_ptr<RpcServerCall>> calls_;
  std::promise<std::shared_ptr<RpcServerCall>> first_;
};

// Whether the condition comes true in time.
inline bool Eventually(const std::function<bool()>& condition) {
  const auto end = std::chrono::steady_clock::now() + kPatience;
  while (!condition()) {
    if (std::chrono::steady_clock::now() > end) {
      return false;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return true;
}

}  // namespace infeed::rpc_test

#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "pipeline/remote/rpc.h"

namespace infeed {

// What goes wrong with the calls to an address.
struct LoopbackFaults {
  bool is_dead = false;    // kUnavailable at once, also calls in work
  bool is_silent = false;  // no answer before the deadline
  std::chrono::milliseconds delay{0};  // of each answer
  std::size_t piece = 0;  // replies come in pieces of so many bytes; 0: as sent
  // Turns over the lowest bit of the byte that is so far from a reply's end, in
  // replies of more than 1,000 bytes.
  std::optional<std::size_t> flipped = {};
};

// Remote procedure calls within the process: Connect() reaches the handler that
// Listen() has for the same address. Handlers and ends of calls run in a few
// threads of its own; calls to a dead address end before Call() returns.
// Channels and servers must be gone before it. Thread-safe.
class LoopbackRpc final : public RpcLibrary {
 public:
  explicit LoopbackRpc(int threads = 4);
  ~LoopbackRpc() override;
  LoopbackRpc(const LoopbackRpc&) = delete;
  LoopbackRpc& operator=(const LoopbackRpc&) = delete;

  [[nodiscard]] std::unique_ptr<RpcChannel> Connect(
      const std::string& address, const RpcAccess& access,
      std::int64_t max_reply) override;
  [[nodiscard]] std::unique_ptr<RpcServer> Listen(
      const std::string& address, const RpcAccess& access,
      std::int64_t max_request, RpcServer::Handler handler) override;

  void SetFaults(const std::string& address, const LoopbackFaults& faults);
  // Calls to the address so far, of a method; "": of any.
  [[nodiscard]] int calls(const std::string& address,
                          const std::string& method = "") const;

  class Network;

 private:
  std::shared_ptr<Network> network_;
};

}  // namespace infeed

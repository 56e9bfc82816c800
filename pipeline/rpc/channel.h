#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_set>

#include <grpcpp/generic/generic_stub.h>

#include "pipeline/remote/rpc.h"
#include "pipeline/rpc/call_queue.h"

namespace infeed {

// RpcChannel by gRPC, with a connection of its own. Its calls end in the
// threads of the queue.
class GrpcChannel final : public RpcChannel {
 public:
  // As RpcLibrary::Connect().
  GrpcChannel(const std::string& address, const RpcAccess& access,
              std::int64_t max_reply, std::shared_ptr<CallQueue> queue);
  ~GrpcChannel() override;

  void Call(std::string_view method, std::string request,
            std::chrono::milliseconds timeout, Done done) override;

 private:
  struct CallInWork;
  using CallPtr = std::shared_ptr<CallInWork>;

  void End(CallPtr call);

  std::shared_ptr<CallQueue> queue_;
  std::string token_;
  grpc::GenericStub stub_;
  std::mutex mutex_;
  bool is_closing_ = false;
  std::unordered_set<CallPtr> calls_;  // that gRPC has not ended
  int running_ = 0;                    // those, and those whose done() runs
  std::condition_variable idle_;       // running_ is 0
};

}  // namespace infeed

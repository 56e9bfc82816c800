#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "pipeline/remote/messages.h"
#include "pipeline/remote/rpc.h"
#include "pipeline/remote/worker_service.h"
#include "records/store/record_index.h"
#include "tests/support/loopback_rpc.h"

namespace infeed {

// A call to fill other slots than those requested: of the next epoch.
class LyingCall final : public RpcServerCall {
 public:
  explicit LyingCall(std::shared_ptr<RpcServerCall> call)
      : call_(std::move(call)) {
    FillRequest request = ParseFillRequest(call_->request());
    for (SlotRequest& slot : request.slots) {
      ++slot.epoch;
    }
    request_ = Serialize(request);
  }

  [[nodiscard]] std::string_view method() const override {
    return call_->method();
  }
  [[nodiscard]] std::string_view request() const override { return request_; }
  [[nodiscard]] bool is_cancelled() const override {
    return call_->is_cancelled();
  }
  void Finish(const RpcStatus& status, std::vector<RpcPiece> reply) override {
    call_->Finish(status, std::move(reply));
  }

 private:
  const std::shared_ptr<RpcServerCall> call_;
  std::string request_;
};

// How a worker misbehaves.
struct Misconduct {
  int busy = 0;     // ranges that it refuses first, as one too many
  int honest = -1;  // ranges that it fills before it lies; -1: it never lies
};

// A worker in the test's process, of one thread, that can be started again. The
// network and the data must outlive it.
class TestWorker {
 public:
  TestWorker(LoopbackRpc& rpc, std::string address, const RecordIndex& index,
             RpcAccess access = {}, Misconduct misconduct = {})
      : rpc_(rpc),
        address_(std::move(address)),
        index_(index),
        access_(std::move(access)),
        misconduct_(misconduct) {
    Start();
  }
  TestWorker(const TestWorker&) = delete;
  TestWorker& operator=(const TestWorker&) = delete;

  void Restart() {
    server_.reset();
    service_.reset();
    Start();
  }

 private:
  void Start() {
    // Not owned.
    std::shared_ptr<const RecordIndex> index(
        std::shared_ptr<const RecordIndex>(), &index_);
    service_ = std::make_unique<WorkerService>(
        std::vector{std::move(index)},
        WorkerOptions{.name = "name of " + address_, .threads = 1});
    server_ = rpc_.Listen(address_, access_, kMaxRequestBytes,
                          [this](std::shared_ptr<RpcServerCall> call) {
                            Handle(std::move(call));
                          });
  }

  void Handle(std::shared_ptr<RpcServerCall> call) {
    if (call->method() != kFillMethod) {
      service_->Handle(std::move(call));
      return;
    }
    const int fill = fills_++ - misconduct_.busy;
    if (fill < 0) {
      call->Finish({RpcCode::kBusy, "too many"}, {});
    } else if (misconduct_.honest >= 0 && fill >= misconduct_.honest) {
      service_->Handle(std::make_shared<LyingCall>(std::move(call)));
    } else {
      service_->Handle(std::move(call));
    }
  }

  LoopbackRpc& rpc_;
  const std::string address_;
  const RecordIndex& index_;
  const RpcAccess access_;
  const Misconduct misconduct_;
  std::atomic<int> fills_{0};
  std::unique_ptr<WorkerService> service_;
  std::unique_ptr<RpcServer> server_;
};

}  // namespace infeed

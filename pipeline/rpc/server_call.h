#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <grpcpp/generic/async_generic_service.h>
#include <grpcpp/support/byte_buffer.h>

#include "pipeline/remote/rpc.h"

namespace infeed {

class CallReactor;

// What the two sides of a call on the server share. Either may end first: that
// of gRPC, or that of the handler. Thread-safe.
class CallLink {
 public:
  explicit CallLink(CallReactor* reactor) : reactor_(reactor) {}

  // The reactor for the first caller, null for all others: the first has to
  // answer the call, and gRPC keeps the reactor until somebody has.
  [[nodiscard]] CallReactor* Take() { return reactor_.exchange(nullptr); }
  [[nodiscard]] bool IsTaken() const { return reactor_.load() == nullptr; }

 private:
  std::atomic<CallReactor*> reactor_;
};

// The handler's side of a call. May outlive the server.
class GrpcServerCall final : public RpcServerCall {
 public:
  GrpcServerCall(std::shared_ptr<CallLink> link, std::string method,
                 std::string request);
  ~GrpcServerCall() override;

  [[nodiscard]] std::string_view method() const override { return method_; }
  [[nodiscard]] std::string_view request() const override { return request_; }
  [[nodiscard]] bool is_cancelled() const override { return link_->IsTaken(); }
  void Finish(const RpcStatus& status, std::vector<RpcPiece> reply) override;

 private:
  std::shared_ptr<CallLink> link_;
  std::string method_;
  std::string request_;
};

// gRPC's side of a call: reads the request, unless the call lacks the token,
// and passes it to the handler. Deletes itself.
class CallReactor final : public grpc::ServerGenericBidiReactor {
 public:
  // All must outlive it.
  CallReactor(grpc::GenericCallbackServerContext& context,
              const std::string& token, const RpcServer::Handler& handler);

  // Answers the call. It may be deleted before this returns. Requires: it was
  // taken from its link.
  void Reply(const RpcStatus& status, std::vector<RpcPiece> pieces);

  void OnReadDone(bool ok) override;
  void OnCancel() override;
  void OnDone() override { delete this; }

 private:
  void Fail(const RpcStatus& status);

  grpc::GenericCallbackServerContext& context_;
  const RpcServer::Handler& handler_;
  std::shared_ptr<CallLink> link_;
  grpc::ByteBuffer request_;
  grpc::ByteBuffer reply_;
};

}  // namespace infeed

#include "pipeline/rpc/server_call.h"

#include <utility>

#include "pipeline/rpc/access.h"
#include "pipeline/rpc/message.h"
#include "pipeline/rpc/status.h"

namespace infeed {

GrpcServerCall::GrpcServerCall(std::shared_ptr<CallLink> link,
                               std::string method, std::string request)
    : link_(std::move(link)),
      method_(std::move(method)),
      request_(std::move(request)) {}

GrpcServerCall::~GrpcServerCall() {
  GrpcServerCall::Finish({.code = RpcCode::kFailed,
                          .message = "the worker did not answer the call"},
                         {});
}

void GrpcServerCall::Finish(const RpcStatus& status,
                            std::vector<RpcPiece> reply) {
  if (CallReactor* const reactor = link_->Take()) {
    reactor->Reply(status, std::move(reply));
  }
}

CallReactor::CallReactor(grpc::GenericCallbackServerContext& context,
                         const std::string& token,
                         const RpcServer::Handler& handler)
    : context_(context),
      handler_(handler),
      link_(std::make_shared<CallLink>(this)) {
  if (HasToken(context.client_metadata(), token)) {
    StartRead(&request_);
  } else {
    Fail({.code = RpcCode::kRefused,
          .message = "the token is wrong: INFEED_WORKER_TOKEN must be the same "
                     "here and there"});
  }
}

void CallReactor::Reply(const RpcStatus& status, std::vector<RpcPiece> pieces) {
  if (status.is_ok()) {
    reply_ = ToMessage(std::move(pieces));
    StartWriteAndFinish(&reply_, grpc::WriteOptions(), grpc::Status::OK);
    return;
  }
  if (status.code == RpcCode::kBusy) {
    context_.AddTrailingMetadata(kCodeKey, kBusyCode);
  }
  Finish(ToGrpcStatus(status));
}

void CallReactor::OnReadDone(bool ok) {
  if (!ok) {
    Fail({.code = RpcCode::kInvalid,
          .message = "there is no request, or it is too large"});
    return;
  }
  const MessagePieces request(request_);
  handler_(std::make_shared<GrpcServerCall>(link_, context_.method(),
                                            request.Text()));
}

void CallReactor::OnCancel() {
  Fail({.code = RpcCode::kCancelled, .message = "the call was cancelled"});
}

void CallReactor::Fail(const RpcStatus& status) {
  if (CallReactor* const self = link_->Take()) {
    self->Reply(status, {});
  }
}

}  // namespace infeed

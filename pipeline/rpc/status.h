#pragma once

#include <grpcpp/client_context.h>
#include <grpcpp/support/status.h>

#include "pipeline/remote/rpc.h"

namespace infeed {

// Trailing metadata of a reply that means kBusy. gRPC itself gives the same
// code, RESOURCE_EXHAUSTED, to a message that is too large.
inline constexpr const char* kCodeKey = "infeed-code";
inline constexpr const char* kBusyCode = "busy";

[[nodiscard]] grpc::Status ToGrpcStatus(const RpcStatus& status);

// The status of a call that is over.
[[nodiscard]] RpcStatus ToRpcStatus(const grpc::Status& status,
                                    const grpc::ClientContext& context);

}  // namespace infeed

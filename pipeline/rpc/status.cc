#include "pipeline/rpc/status.h"

#include <array>
#include <string>
#include <utility>

namespace infeed {
namespace {

constexpr std::array<std::pair<RpcCode, grpc::StatusCode>, 8> kCodes = {{
    {RpcCode::kOk, grpc::StatusCode::OK},
    {RpcCode::kUnavailable, grpc::StatusCode::UNAVAILABLE},
    {RpcCode::kDeadline, grpc::StatusCode::DEADLINE_EXCEEDED},
    {RpcCode::kCancelled, grpc::StatusCode::CANCELLED},
    {RpcCode::kBusy, grpc::StatusCode::RESOURCE_EXHAUSTED},
    {RpcCode::kNotOpen, grpc::StatusCode::FAILED_PRECONDITION},
    {RpcCode::kRefused, grpc::StatusCode::UNAUTHENTICATED},
    {RpcCode::kInvalid, grpc::StatusCode::INVALID_ARGUMENT},
}};

// A status travels among the metadata, which gRPC limits to 8 KiB after it has
// made three characters of each that is not ASCII.
constexpr std::size_t kMostText = 2000;

grpc::StatusCode GrpcCodeOf(RpcCode code) {
  for (const auto& [own, grpc_code] : kCodes) {
    if (own == code) {
      return grpc_code;
    }
  }
  return grpc::StatusCode::INTERNAL;
}

RpcCode RpcCodeOf(grpc::StatusCode code) {
  for (const auto& [own, grpc_code] : kCodes) {
    if (grpc_code == code) {
      return own;
    }
  }
  return RpcCode::kFailed;
}

bool IsMarkedBusy(const grpc::ClientContext& context) {
  const auto& metadata = context.GetServerTrailingMetadata();
  const auto found = metadata.find(kCodeKey);
  return found != metadata.end() && found->second == kBusyCode;
}

}  // namespace

grpc::Status ToGrpcStatus(const RpcStatus& status) {
  return {GrpcCodeOf(status.code), status.message.substr(0, kMostText)};
}

RpcStatus ToRpcStatus(const grpc::Status& status,
                      const grpc::ClientContext& context) {
  RpcCode code = RpcCodeOf(status.error_code());
  if (code == RpcCode::kBusy && !IsMarkedBusy(context)) {
    code = RpcCode::kInvalid;
  }
  return {.code = code, .message = status.error_message()};
}

}  // namespace infeed

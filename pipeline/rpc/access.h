#pragma once

#include <map>
#include <memory>
#include <string>

#include <grpcpp/security/credentials.h>
#include <grpcpp/security/server_credentials.h>
#include <grpcpp/support/string_ref.h>

#include "pipeline/remote/rpc.h"

namespace infeed {

inline constexpr const char* kTokenKey = "infeed-token";  // metadata

// Both throw UsageError that names the file of the access that cannot be read
// or has no PEM of its kind. gRPC reads the files again each minute.
[[nodiscard]] std::shared_ptr<grpc::ChannelCredentials> ToChannelCredentials(
    const RpcAccess& access);
[[nodiscard]] std::shared_ptr<grpc::ServerCredentials> ToServerCredentials(
    const RpcAccess& access);

// Whether a call's metadata has the token; compares in a time that does not
// depend on how much of it is right. An empty token: any metadata.
[[nodiscard]] bool HasToken(
    const std::multimap<grpc::string_ref, grpc::string_ref>& metadata,
    const std::string& token);

}  // namespace infeed

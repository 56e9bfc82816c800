#include "pipeline/rpc/server.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <limits>
#include <utility>

#include <grpc/grpc.h>
#include <grpcpp/health_check_service_interface.h>
#include <grpcpp/resource_quota.h>
#include <grpcpp/server_builder.h>

#include "base/error.h"
#include "pipeline/rpc/access.h"
#include "pipeline/rpc/server_call.h"

namespace infeed {
namespace {

// Of messages that arrive, and of connections; replies are others' memory.
constexpr std::size_t kQuotaBytes = std::size_t{256} << 20;
constexpr int kQuotaThreads = 64;
constexpr int kMostCalls = 256;  // of one connection
// For TLS and HTTP/2's settings: strangers who say nothing go.
constexpr int kHandshakeMilliseconds = 10'000;
constexpr std::chrono::seconds kGrace{10};

// Clients ping each 5 seconds, with or without calls; gRPC would close such
// connections. The server's own pings end the calls of dead clients.
void SetKeepalive(grpc::ServerBuilder& builder) {
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_TIME_MS, 5'000);
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, 10'000);
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_PERMIT_WITHOUT_CALLS, 1);
  builder.AddChannelArgument(
      GRPC_ARG_HTTP2_MIN_RECV_PING_INTERVAL_WITHOUT_DATA_MS, 1'000);
  builder.AddChannelArgument(GRPC_ARG_HTTP2_MAX_PINGS_WITHOUT_DATA, 0);
  builder.AddChannelArgument(GRPC_ARG_HTTP2_MAX_PING_STRIKES, 0);
}

void SetLimits(grpc::ServerBuilder& builder, std::int64_t max_request) {
  builder.SetMaxReceiveMessageSize(static_cast<int>(
      std::min<std::int64_t>(max_request, std::numeric_limits<int>::max())));
  builder.AddChannelArgument(GRPC_ARG_MAX_CONCURRENT_STREAMS, kMostCalls);
  builder.AddChannelArgument(GRPC_ARG_SERVER_HANDSHAKE_TIMEOUT_MS,
                             kHandshakeMilliseconds);
  grpc::ResourceQuota quota("infeed");
  quota.Resize(kQuotaBytes);
  quota.SetMaxThreads(kQuotaThreads);
  builder.SetResourceQuota(quota);
}

}  // namespace

GrpcServer::Service::Service(std::string token, RpcServer::Handler handler)
    : token_(std::move(token)), handler_(std::move(handler)) {}

grpc::ServerGenericBidiReactor* GrpcServer::Service::CreateReactor(
    grpc::GenericCallbackServerContext* context) {
  return new CallReactor(*context, token_, handler_);
}

GrpcServer::GrpcServer(const std::string& address, const RpcAccess& access,
                       std::int64_t max_request, Handler handler)
    : service_(access.token, std::move(handler)) {
  grpc::EnableDefaultHealthCheckService(true);
  grpc::ServerBuilder builder;
  SetKeepalive(builder);
  SetLimits(builder, max_request);
  // Else a second server could listen at a port in use.
  builder.AddChannelArgument(GRPC_ARG_ALLOW_REUSEPORT, 0);
  builder.AddListeningPort(address, ToServerCredentials(access), &port_);
  builder.RegisterCallbackGenericService(&service_);
  server_ = builder.BuildAndStart();
  if (server_ == nullptr || port_ == 0) {
    throw IoError(address +
                  ": cannot listen there (is the port in use, and is the "
                  "address one of this machine?)");
  }
  server_->GetHealthCheckService()->SetServingStatus(true);
}

GrpcServer::~GrpcServer() {
  // Returns when the last reactor is gone.
  server_->Shutdown(std::chrono::system_clock::now() + kGrace);
}

}  // namespace infeed

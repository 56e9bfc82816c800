#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include <grpcpp/generic/async_generic_service.h>
#include <grpcpp/server.h>

#include "pipeline/remote/rpc.h"

namespace infeed {

// RpcServer by gRPC.
class GrpcServer final : public RpcServer {
 public:
  // As RpcLibrary::Listen().
  GrpcServer(const std::string& address, const RpcAccess& access,
             std::int64_t max_request, Handler handler);
  ~GrpcServer() override;

  [[nodiscard]] int port() const override { return port_; }

 private:
  // All methods but those of the health service.
  class Service final : public grpc::CallbackGenericService {
   public:
    Service(std::string token, RpcServer::Handler handler);

    grpc::ServerGenericBidiReactor* CreateReactor(
        grpc::GenericCallbackServerContext* context) override;

   private:
    std::string token_;
    RpcServer::Handler handler_;
  };

  Service service_;
  std::unique_ptr<grpc::Server> server_;
  int port_ = 0;
};

}  // namespace infeed

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "pipeline/remote/rpc.h"
#include "pipeline/rpc/channel.h"
#include "pipeline/rpc/server.h"

namespace infeed {
namespace {

class GrpcLibrary final : public RpcLibrary {
 public:
  std::unique_ptr<RpcChannel> Connect(const std::string& address,
                                      const RpcAccess& access,
                                      std::int64_t max_reply) override {
    return std::make_unique<GrpcChannel>(address, access, max_reply);
  }

  std::unique_ptr<RpcServer> Listen(const std::string& address,
                                    const RpcAccess& access,
                                    std::int64_t max_request,
                                    RpcServer::Handler handler) override {
    return std::make_unique<GrpcServer>(address, access, max_request,
                                        std::move(handler));
  }
};

}  // namespace
}  // namespace infeed

extern "C" {

__attribute__((visibility("default"))) int infeed_rpc_version() {
  return infeed::kRpcVersion;
}

__attribute__((visibility("default"))) infeed::RpcLibrary*
infeed_rpc_library() {
  static infeed::GrpcLibrary library;
  return &library;
}

}  // extern "C"

#include <cstdint>
#include <exception>
#include <memory>
#include <string>
#include <utility>

#include "base/error.h"
#include "pipeline/remote/rpc.h"
#include "pipeline/rpc/channel.h"
#include "pipeline/rpc/server.h"

namespace infeed {
namespace {

template <typename T, typename... Arguments>
std::unique_ptr<T> Make(RpcError& error, Arguments&&... arguments) {
  try {
    return std::make_unique<T>(std::forward<Arguments>(arguments)...);
  } catch (const UsageError& thrown) {
    error = {.is_usage = true, .message = thrown.what()};
  } catch (const std::exception& thrown) {
    error = {.is_usage = false, .message = thrown.what()};
  }
  return nullptr;
}

class GrpcPlugin final : public RpcPlugin {
 public:
  std::unique_ptr<RpcChannel> Connect(const std::string& address,
                                      const RpcAccess& access,
                                      std::int64_t max_reply,
                                      RpcError& error) override {
    return Make<GrpcChannel>(error, address, access, max_reply);
  }

  std::unique_ptr<RpcServer> Listen(const std::string& address,
                                    const RpcAccess& access,
                                    std::int64_t max_request,
                                    RpcServer::Handler handler,
                                    RpcError& error) override {
    return Make<GrpcServer>(error, address, access, max_request,
                            std::move(handler));
  }
};

}  // namespace
}  // namespace infeed

extern "C" {

__attribute__((visibility("default"))) int infeed_rpc_version() {
  return infeed::kRpcVersion;
}

__attribute__((visibility("default"))) infeed::RpcPlugin* infeed_rpc_plugin() {
  // An object would be destroyed while the process ends.
  static auto& plugin = *new infeed::GrpcPlugin;
  return &plugin;
}

}  // extern "C"

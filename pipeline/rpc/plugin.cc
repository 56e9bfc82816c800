#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "base/error.h"
#include "pipeline/remote/rpc.h"
#include "pipeline/rpc/call_queue.h"
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
    const std::shared_ptr<CallQueue> queue = QueueOfChannels(error);
    return queue ? Make<GrpcChannel>(error, address, access, max_reply, queue)
                 : nullptr;
  }

  std::unique_ptr<RpcServer> Listen(const std::string& address,
                                    const RpcAccess& access,
                                    std::int64_t max_request,
                                    RpcServer::Handler handler,
                                    RpcError& error) override {
    return Make<GrpcServer>(error, address, access, max_request,
                            std::move(handler));
  }

 private:
  // The one of all channels that there are; null: see the error.
  std::shared_ptr<CallQueue> QueueOfChannels(RpcError& error) {
    const std::scoped_lock lock(mutex_);
    std::shared_ptr<CallQueue> queue = queue_.lock();
    if (!queue) {
      queue = Make<CallQueue>(error);
      queue_ = queue;
    }
    return queue;
  }

  std::mutex mutex_;
  std::weak_ptr<CallQueue> queue_;
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

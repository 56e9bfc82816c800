#include "pipeline/remote/rpc_plugin.h"

#include <dlfcn.h>

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "base/error.h"
#include "base/owner_process.h"
#include "base/shared_library.h"

namespace infeed {
namespace {

// RTLD_DEEPBIND: the plugin calls the libraries that it was linked with, also
// where others with the same functions are loaded for the whole process:
// TensorFlow has a gRPC and a TLS of its own. 0 where malloc() is not the C
// library's: the plugin would free its blocks by another function. Sanitizers,
// which refuse the flag, have a malloc(), too.
int OwnLibraries() {
  void* const libc = ::dlopen("libc.so.6", RTLD_LAZY | RTLD_NOLOAD);
  if (libc == nullptr) {
    return 0;
  }
  const bool is_own =
      ::dlsym(libc, "malloc") == ::dlsym(RTLD_DEFAULT, "malloc");
  ::dlclose(libc);
  return is_own ? RTLD_DEEPBIND : 0;
}

template <typename Function>
Function* FunctionOf(void* plugin, const char* name) {
  return reinterpret_cast<Function*>(dlsym(plugin, name));
}

// The plugin's errors as exceptions of this code.
class PluginLibrary final : public RpcLibrary {
 public:
  explicit PluginLibrary(RpcPlugin& plugin) : plugin_(plugin) {}

  std::unique_ptr<RpcChannel> Connect(const std::string& address,
                                      const RpcAccess& access,
                                      std::int64_t max_reply) override {
    RpcError error;
    auto channel = plugin_.Connect(address, access, max_reply, error);
    ThrowIf(channel == nullptr, error);
    return channel;
  }

  std::unique_ptr<RpcServer> Listen(const std::string& address,
                                    const RpcAccess& access,
                                    std::int64_t max_request,
                                    RpcServer::Handler handler) override {
    RpcError error;
    auto server =
        plugin_.Listen(address, access, max_request, std::move(handler), error);
    ThrowIf(server == nullptr, error);
    return server;
  }

 private:
  static void ThrowIf(bool has_failed, const RpcError& error) {
    if (has_failed && error.is_usage) {
      throw UsageError(error.message);
    }
    if (has_failed) {
      throw IoError(error.message);
    }
  }

  RpcPlugin& plugin_;
};

RpcLibrary& LoadPlugin() {
  const std::string path = PluginPath("libinfeed_workers.so");
  // Stays loaded, as gRPC has threads of its own.
  void* const plugin =
      dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL | OwnLibraries());
  if (plugin == nullptr) {
    throw UsageError(
        std::string("input workers need libinfeed_workers.so, which a build "
                    "with libgrpc++-dev makes, beside the program, in "
                    "../lib/infeed or in its RUNPATH: ") +
        dlerror());
  }
  const auto version =
      FunctionOf<RpcVersionFunction>(plugin, "infeed_rpc_version");
  const auto rpc = FunctionOf<RpcPluginFunction>(plugin, "infeed_rpc_plugin");
  if (version == nullptr || rpc == nullptr || version() != kRpcVersion) {
    throw UsageError(path +
                     ": belongs to another version of infeed; install both "
                     "from one build");
  }
  // Never destroyed: threads may use it while the process ends.
  return *new PluginLibrary(*rpc());
}

struct LoadedPlugin {
  RpcLibrary& library;
  OwnerProcess owner;
};

}  // namespace

RpcLibrary& LoadedRpcLibrary() {
  // One that fails is tried again.
  static const LoadedPlugin plugin = {.library = LoadPlugin(), .owner = {}};
  if (!plugin.owner.IsCurrent()) {
    throw UsageError(
        "input workers cannot be used in a child of a process that used them: "
        "start processes by spawn instead of fork");
  }
  return plugin.library;
}

}  // namespace infeed

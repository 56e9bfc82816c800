#include "pipeline/remote/rpc_plugin.h"

#include <dlfcn.h>
#include <link.h>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/owner_process.h"

namespace infeed {
namespace {

namespace fs = std::filesystem;

constexpr const char* kPluginName = "libinfeed_workers.so";

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

// Where this code lies: a program, or a library of one. "" if unknown.
fs::path FolderOfThisCode() {
  Dl_info info{};
  void* entry = nullptr;
  if (dladdr1(reinterpret_cast<const void*>(&LoadedRpcLibrary), &info, &entry,
              RTLD_DL_LINKMAP) == 0) {
    return {};
  }
  // A program's entry has no name. What it was called by is no path, or is one
  // from a working directory that may have changed.
  const std::string name = static_cast<const link_map*>(entry)->l_name;
  std::error_code ignored;
  return fs::canonical(name.empty() ? "/proc/self/exe" : name, ignored)
      .parent_path();
}

// Beside the code or its folder, as in Python's package; below an installed or
// built program, test or module; where infeed was installed.
std::vector<fs::path> PluginPlaces() {
  std::vector<fs::path> places;
  if (const fs::path own = FolderOfThisCode(); !own.empty()) {
    places = {own, own / "..", own / ".." / "lib" / "infeed",
              own / ".." / INFEED_PLUGIN_FOLDER,
              own / ".." / ".." / INFEED_PLUGIN_FOLDER};
  }
  places.emplace_back(INFEED_PLUGIN_DIR);
  for (fs::path& place : places) {
    place = (place / kPluginName).lexically_normal();
  }
  return places;
}

fs::path FindPlugin() {
  std::string looked;
  for (const fs::path& place : PluginPlaces()) {
    std::error_code ignored;
    if (fs::exists(place, ignored)) {
      return place;
    }
    looked += (looked.empty() ? "" : ", ") + place.string();
  }
  throw UsageError(
      "this build has no input workers: install libgrpc++-dev and build again "
      "(there is no " +
      looked + ")");
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
  const std::string path = FindPlugin().string();
  // Stays loaded, as gRPC has threads of its own.
  void* const plugin =
      dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL | OwnLibraries());
  if (plugin == nullptr) {
    throw UsageError(std::string("the library of input workers cannot be "
                                 "loaded; install gRPC's C++ library: ") +
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

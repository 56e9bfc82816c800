#include "base/shared_library.h"

#include <dlfcn.h>
#include <link.h>

#include <filesystem>
#include <system_error>

namespace infeed {
namespace {

namespace fs = std::filesystem;

// "" if unknown.
fs::path FolderOfThisCode() {
  Dl_info info{};
  void* entry = nullptr;
  if (dladdr1(reinterpret_cast<const void*>(&PluginPath), &info, &entry,
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

}  // namespace

std::string PluginPath(const std::string& name) {
  const fs::path own = FolderOfThisCode();
  if (!own.empty()) {
    // The folder above bin/ is Python's package. Of another program it can be
    // one where others may write. INFEED_PLUGIN_FOLDER may be an absolute path,
    // which then stands alone.
    const fs::path package = own.filename() == "bin" ? own / ".." : own;
    for (const fs::path& folder : {own, package, own / "../lib/infeed",
                                   own / ".." / INFEED_PLUGIN_FOLDER,
                                   own / "../.." / INFEED_PLUGIN_FOLDER}) {
      const fs::path path = (folder / name).lexically_normal();
      std::error_code ignored;
      if (fs::exists(path, ignored)) {
        return path.string();
      }
    }
  }
  return name;
}

}  // namespace infeed

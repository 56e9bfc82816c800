#pragma once

#include <chrono>
#include <string>

namespace CLI {
class App;
}

namespace infeed {

// Flags of a run with folders in an object store.
struct StorageFlags {
  std::string local_scratch_dir;  // "": in the user's cache folder
  std::chrono::seconds upload_timeout{300};
};

// flags must outlive the app.
void AddStorageFlags(CLI::App& app, StorageFlags& flags);

}  // namespace infeed

#include "trainer/remote/exports.h"

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <vector>

#include "base/atomic_file.h"
#include "base/error.h"
#include "trainer/model_dir/model_dir.h"
#include "trainer/remote/folder.h"

namespace infeed {
namespace {

// A file in a waiting folder, with the URL of its destination.
constexpr const char* kAddress = ".address";
constexpr std::int64_t kMaxAddressBytes = 1 << 14;
constexpr const char* kLast = "preprocessing.json";

// Empty where the store cannot be listed: the upload is tried all the same.
std::vector<std::string> NamesIn(const RemoteFolder& remote) {
  try {
    return remote.Folders();
  } catch (const IoError&) {
    return {};
  }
}

}  // namespace

std::string QueueExport(const std::string& folder, const std::string& url,
                        Outbox& outbox,
                        const std::shared_ptr<const CloudRuntime>& runtime) {
  const RemoteFolder remote(url, runtime);
  const std::vector<std::string> taken = NamesIn(remote);
  std::string name = std::filesystem::path(folder).filename().string();
  while (std::ranges::find(taken, name) != taken.end()) {
    name = std::to_string(std::stoll(name) + 1);
  }
  std::string address = remote.UrlOf(name);
  WriteFileAtomically(PathIn(folder, kAddress), address);
  outbox.AddExport(folder, name);
  return address;
}

void SendExports(Outbox& outbox,
                 const std::shared_ptr<const CloudRuntime>& runtime,
                 const std::stop_token& stop) {
  for (const std::string& name : outbox.Exports()) {
    const std::string folder = outbox.FolderOfExport(name);
    const RemoteFolder remote(
        ReadWholeFile(PathIn(folder, kAddress), kMaxAddressBytes), runtime);
    std::vector<std::string> files = NamesInFolder(folder);
    std::erase(files, kAddress);
    std::ranges::sort(files);
    std::ranges::stable_partition(
        files, [](const std::string& file) { return file != kLast; });
    for (const std::string& file : files) {
      remote.Push(PathIn(folder, file), file, stop);
    }
    outbox.DropExport(name);
  }
}

}  // namespace infeed

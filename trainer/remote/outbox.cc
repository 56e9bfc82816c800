#include "trainer/remote/outbox.h"

#include <algorithm>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <utility>

#include "base/atomic_file.h"
#include "base/error.h"
#include "trainer/remote/folder.h"

namespace infeed {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kExportPrefix = "export-";

// Makes a hard link to a file, or a copy where the file system has no links.
void LinkOrCopy(const fs::path& from, const fs::path& to) {
  std::error_code error;
  fs::create_hard_link(from, to, error);
  if (error) {
    error.clear();
    fs::copy_file(from, to, error);
  }
  if (error) {
    throw IoError(to.string(), "link", error.value());
  }
}

// A file in a waiting folder, with the URL of its destination.
constexpr const char* kAddress = ".address";
constexpr std::int64_t kMaxAddressBytes = 1 << 14;
constexpr const char* kLast = "preprocessing.json";

// The names of the exports in a store; empty if the store cannot be listed: the
// upload is tried all the same.
std::vector<std::string> ExportNames(const RemoteFolder& remote) {
  try {
    return remote.Folders();
  } catch (const IoError&) {
    return {};
  }
}

}  // namespace

Outbox::Outbox(std::string path) : path_(std::move(path)) {
  MakeFolder(path_);
  for (const std::string& name : NamesInFolder(path_)) {
    if (name.starts_with('.')) {
      std::error_code ignored;
      fs::remove_all(PathIn(path_, name), ignored);
    }
  }
}

void Outbox::AddCheckpoint(std::int64_t step, const std::string& folder) {
  const std::lock_guard lock(mutex_);
  const std::string fresh = TemporaryCheckpointFolder(path_, step, "new");
  const std::string place = CheckpointFolder(path_, step);
  MakeFolder(fresh);
  for (const std::string& name : NamesInFolder(folder)) {
    LinkOrCopy(PathIn(folder, name), PathIn(fresh, name));
  }
  if (fs::exists(place)) {
    RemoveFolderWhole(place, TemporaryCheckpointFolder(path_, step, "old"));
  }
  RenameFolder(fresh, place);
  SyncDirectory(path_);
}

std::optional<std::int64_t> Outbox::BeginNewest() {
  const std::lock_guard lock(mutex_);
  const std::vector<std::int64_t> steps = StepsHere();
  begun_ = steps.empty() ? std::nullopt : std::optional(steps.back());
  return begun_;
}

void Outbox::DropSuperseded(const KeepOptions& keep) {
  const std::lock_guard lock(mutex_);
  for (const std::int64_t step : NotKept(StepsHere(), keep)) {
    if (step != begun_) {
      Remove(step);
    }
  }
}

void Outbox::Remove(std::int64_t step) {
  RemoveFolderWhole(FolderOf(step),
                    TemporaryCheckpointFolder(path_, step, "old"));
}

std::string Outbox::AddExport(
    const std::string& folder, const std::string& url,
    const std::shared_ptr<const CloudRuntime>& runtime) {
  const RemoteFolder remote(url, runtime);
  const std::vector<std::string> taken = ExportNames(remote);
  std::string name = fs::path(folder).filename().string();
  while (std::ranges::find(taken, name) != taken.end()) {
    name = std::to_string(std::stoll(name) + 1);
  }
  std::string address = remote.UrlOf(name);
  WriteFileAtomically(PathIn(folder, kAddress), address);
  const std::lock_guard lock(mutex_);
  RenameFolder(folder, FolderOfExport(name));
  SyncDirectory(path_);
  return address;
}

std::vector<std::string> Outbox::Exports() const {
  const std::lock_guard lock(mutex_);
  std::vector<std::string> names;
  for (const std::string& name : NamesInFolder(path_)) {
    if (name.starts_with(kExportPrefix)) {
      names.push_back(name.substr(kExportPrefix.size()));
    }
  }
  std::ranges::sort(names);
  return names;
}

std::string Outbox::FolderOfExport(const std::string& name) const {
  return PathIn(path_, std::string(kExportPrefix) + name);
}

void Outbox::SendExports(const std::shared_ptr<const CloudRuntime>& runtime,
                         const std::stop_token& stop) {
  for (const std::string& name : Exports()) {
    const std::string folder = FolderOfExport(name);
    const RemoteFolder remote(
        ReadWholeFile(PathIn(folder, kAddress), kMaxAddressBytes), runtime);
    std::vector<std::string> files = NamesInFolder(folder);
    std::erase(files, kAddress);
    std::ranges::sort(files);
    std::stable_partition(
        files.begin(), files.end(),
        [](const std::string& file) { return file != kLast; });
    for (const std::string& file : files) {
      remote.Push(PathIn(folder, file), file, stop);
    }
    const std::lock_guard lock(mutex_);
    RemoveFolderWhole(folder, PathIn(path_, "." + name));
  }
}

}  // namespace infeed

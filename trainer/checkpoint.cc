#include "trainer/checkpoint.h"

#include <fcntl.h>
#include <stdio.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <span>
#include <string_view>
#include <system_error>

#include <fmt/format.h>

#include "base/atomic_file.h"
#include "base/error.h"
#include "records/crc32c.h"
#include "trainer/manifest.h"
#include "trainer/model_dir.h"
#include "trainer/run_state.h"
#include "trainer/safetensors.h"

namespace infeed {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kMaxManifestBytes = 4096;

void Rename(const std::string& from, const std::string& to) {
  if (::rename(from.c_str(), to.c_str()) != 0) {
    throw IoError(to, "rename", errno);
  }
}

void RemoveFolder(const std::string& folder) {
  std::error_code error;
  fs::remove_all(folder, error);
  if (error) {
    throw IoError(folder, "remove", error.value());
  }
}

// The base names in a folder; none when it is missing.
std::vector<std::string> NamesIn(const std::string& folder) {
  std::vector<std::string> names;
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    names.push_back(entry->path().filename().string());
  }
  if (error && error != std::errc::no_such_file_or_directory) {
    throw IoError(folder, "list", error.value());
  }
  return names;
}

// A folder that goes away unless it was renamed: nothing remains of a write
// that failed.
class NewFolder {
 public:
  explicit NewFolder(std::string path) : path_(std::move(path)) {
    MakeFolder(path_);
  }
  ~NewFolder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  NewFolder(const NewFolder&) = delete;
  NewFolder& operator=(const NewFolder&) = delete;
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  std::string path_;
};

// What killed runs left of checkpoints that they were writing or deleting.
void RemoveLeftovers(const std::string& model_dir) {
  for (const std::string& name : NamesIn(model_dir)) {
    if (IsTemporaryCheckpoint(name)) {
      RemoveFolder(PathIn(model_dir, name));
    }
  }
}

FileSum WriteText(const std::string& path, const std::string& text) {
  WriteFileAtomically(path, text);
  return {.size = static_cast<std::int64_t>(text.size()),
          .crc32c = Crc32c(std::as_bytes(std::span(text)))};
}

// Writes every file and syncs it; the manifest last.
void WriteFiles(const std::string& folder, const Checkpoint& checkpoint) {
  Manifest manifest{.step = checkpoint.step, .files = {}};
  const auto add = [&](std::string_view name, FileSum sum) {
    manifest.files.push_back({.name = std::string(name), .sum = sum});
  };
  add(kModelFile,
      WriteSafetensors(PathIn(folder, kModelFile), checkpoint.state.model));
  add(kOptimizerFile, WriteSafetensors(PathIn(folder, kOptimizerFile),
                                       checkpoint.state.optimizer));
  add(kStateFile,
      WriteText(PathIn(folder, kStateFile), BuildRunState(checkpoint)));
  WriteFileAtomically(PathIn(folder, kManifestFile), BuildManifest(manifest));
}

// Gives the new folder its name. An older checkpoint of the same step changes
// places with it in one step, so that at no moment neither is there; where the
// file system cannot exchange, it is moved aside first.
void Publish(const std::string& new_folder, const std::string& folder,
             const std::string& aside) {
  if (std::error_code error; !fs::exists(folder, error) && !error) {
    Rename(new_folder, folder);
    return;
  }
  if (::renameat2(AT_FDCWD, new_folder.c_str(), AT_FDCWD, folder.c_str(),
                  RENAME_EXCHANGE) == 0) {
    return;  // new_folder is the old checkpoint now, and goes away.
  }
  Rename(folder, aside);
  Rename(new_folder, folder);
  RemoveFolder(aside);
}

// Deletes all but the newest keep_last of the checkpoints up to `step`. Those
// of later steps are damaged ones that this run fell back past: they do not
// count, and are replaced when it gets there. A folder is renamed first: one
// that is half deleted is no checkpoint.
void RemoveOldest(const std::string& model_dir, std::int64_t step,
                  int keep_last) {
  std::vector<std::int64_t> steps = ListCheckpoints(model_dir);
  std::erase_if(steps, [&](std::int64_t other) { return other > step; });
  const std::size_t keep = static_cast<std::size_t>(keep_last);
  for (std::size_t i = 0; i + keep < steps.size(); ++i) {
    const std::string aside =
        TemporaryCheckpointFolder(model_dir, steps[i], "old");
    Rename(CheckpointFolder(model_dir, steps[i]), aside);
    RemoveFolder(aside);
  }
}

// The size of a file of a checkpoint. One that is missing is damage; one that
// cannot be looked at is not.
std::int64_t SizeOf(const std::string& path) {
  std::error_code error;
  const std::uintmax_t size = fs::file_size(path, error);
  if (error == std::errc::no_such_file_or_directory) {
    throw DataError({.path = path}, "is missing");
  }
  if (error) {
    throw IoError(path, "stat", error.value());
  }
  return static_cast<std::int64_t>(size);
}

std::string ReadManifest(const std::string& path) {
  const std::int64_t size = SizeOf(path);
  if (size > kMaxManifestBytes) {
    throw DataError({.path = path},
                    fmt::format("has {} bytes: not a manifest", size));
  }
  return ReadWholeFile(path, size);
}

std::string ReadChecked(const std::string& folder, std::string_view name,
                        const Manifest& manifest) {
  const std::string path = PathIn(folder, name);
  const auto entry =
      std::ranges::find(manifest.files, name, &Manifest::File::name);
  if (entry == manifest.files.end()) {
    throw DataError({.path = path}, "is not in the manifest");
  }
  const FileSum& sum = entry->sum;
  const std::int64_t size = SizeOf(path);
  if (size != sum.size) {
    throw DataError(
        {.path = path},
        fmt::format("has {} bytes, the manifest says {}", size, sum.size));
  }
  std::string bytes = ReadWholeFile(path, size);
  if (Crc32c(std::as_bytes(std::span(bytes))) != sum.crc32c) {
    throw DataError({.path = path}, "has another checksum than the manifest");
  }
  return bytes;
}

// Calls parse and names the file in the error that it throws.
template <typename Parse>
auto Named(const std::string& path, Parse parse) {
  try {
    return parse();
  } catch (const DataError& error) {
    throw error.At({.path = path});
  }
}

TensorMap ReadTensors(const std::string& folder, std::string_view name,
                      const Manifest& manifest) {
  const std::string bytes = ReadChecked(folder, name, manifest);
  return Named(PathIn(folder, name), [&] {
    return ParseSafetensors(std::as_bytes(std::span(bytes)));
  });
}

}  // namespace

std::string SaveCheckpoint(const std::string& model_dir,
                           const Checkpoint& checkpoint, int keep_last) {
  Check(keep_last > 0, "at least one checkpoint is kept");
  MakeFolder(model_dir);
  RemoveLeftovers(model_dir);
  const std::int64_t step = checkpoint.step;
  std::string folder = CheckpointFolder(model_dir, step);
  {
    const NewFolder fresh(TemporaryCheckpointFolder(model_dir, step, "new"));
    WriteFiles(fresh.path(), checkpoint);
    Publish(fresh.path(), folder,
            TemporaryCheckpointFolder(model_dir, step, "old"));
    SyncDirectory(model_dir);
  }
  RemoveOldest(model_dir, step, keep_last);
  return folder;
}

std::vector<std::int64_t> ListCheckpoints(const std::string& model_dir) {
  std::vector<std::int64_t> steps;
  for (const std::string& name : NamesIn(model_dir)) {
    const std::optional<std::int64_t> step = CheckpointStep(name);
    std::error_code ignored;
    if (step &&
        fs::exists(PathIn(PathIn(model_dir, name), kManifestFile), ignored)) {
      steps.push_back(*step);
    }
  }
  std::ranges::sort(steps);
  return steps;
}

Checkpoint LoadCheckpoint(const std::string& model_dir, std::int64_t step) {
  const std::string folder = CheckpointFolder(model_dir, step);
  const std::string manifest_path = PathIn(folder, kManifestFile);
  const std::string manifest_text = ReadManifest(manifest_path);
  const Manifest manifest =
      Named(manifest_path, [&] { return ParseManifest(manifest_text); });
  const std::string state = ReadChecked(folder, kStateFile, manifest);
  Checkpoint checkpoint =
      Named(PathIn(folder, kStateFile), [&] { return ParseRunState(state); });
  if (manifest.step != step || checkpoint.step != step) {
    throw DataError({.path = folder}, "holds the state of another step");
  }
  checkpoint.state.model = ReadTensors(folder, kModelFile, manifest);
  checkpoint.state.optimizer = ReadTensors(folder, kOptimizerFile, manifest);
  return checkpoint;
}

std::optional<Checkpoint> LoadNewestCheckpoint(
    const std::string& model_dir, std::vector<std::string>& damaged) {
  std::vector<std::int64_t> steps = ListCheckpoints(model_dir);
  for (; !steps.empty(); steps.pop_back()) {
    try {
      return LoadCheckpoint(model_dir, steps.back());
    } catch (const DataError& error) {
      damaged.emplace_back(error.what());
    }
  }
  return std::nullopt;
}

std::string FirstDifference(const RunIdentity& run,
                            const RunIdentity& checkpoint) {
  for (const auto& [name, value] : run) {
    const auto other = std::ranges::find(checkpoint, name, &StateField::name);
    if (other != checkpoint.end() && other->value != value) {
      return fmt::format("{} is {}, the checkpoint has {}", name, value,
                         other->value);
    }
  }
  return "";
}

}  // namespace infeed

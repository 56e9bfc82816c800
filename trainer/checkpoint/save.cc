#include "trainer/checkpoint/save.h"

#include <fcntl.h>
#include <stdio.h>

#include <algorithm>
#include <filesystem>
#include <span>
#include <string_view>
#include <system_error>
#include <utility>

#include "base/atomic_file.h"
#include "base/error.h"
#include "records/bytes/crc32c.h"
#include "trainer/checkpoint/manifest.h"
#include "trainer/formats/safetensors.h"
#include "trainer/results/model_dir.h"

namespace infeed {
namespace {

namespace fs = std::filesystem;

// Removes a folder unless it was renamed, so that a failed write leaves
// nothing.
class NewFolder {
 public:
  explicit NewFolder(std::string path) : path_(std::move(path)) {
    MakeFolder(path_, "create", 1);
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

// Removes the checkpoints that killed runs were writing or deleting.
void RemoveLeftovers(const std::string& model_dir) {
  for (const std::string& name : NamesInFolder(model_dir)) {
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

// Gives the new folder its name. An older checkpoint of the same step is
// exchanged with it atomically, so that one of them always has the name; where
// the file system cannot exchange, the older one is moved aside first.
void Publish(const std::string& new_folder, const std::string& folder,
             const std::string& aside) {
  // Whatever has its name is replaced: also a file, or a link to nothing.
  std::error_code ignored;
  if (!fs::exists(fs::symlink_status(folder, ignored))) {
    RenameFolder(new_folder, folder);
    return;
  }
  if (::renameat2(AT_FDCWD, new_folder.c_str(), AT_FDCWD, folder.c_str(),
                  RENAME_EXCHANGE) == 0) {
    return;  // new_folder is the old checkpoint now, and is removed.
  }
  RenameFolder(folder, aside);
  RenameFolder(new_folder, folder);
  RemoveFolder(aside);
}

// Deletes the checkpoints that are not kept. Later ones than `step` do not
// count: they are damaged, or the run went back behind them. A folder is
// renamed before it is deleted, so that a half deleted one is not a checkpoint.
void RemoveOthers(const std::string& model_dir, std::int64_t step,
                  const KeepOptions& keep) {
  const std::vector<std::int64_t> steps = ListCheckpoints(model_dir);
  const auto later = std::ranges::upper_bound(steps, step);
  std::vector<std::int64_t> gone = NotKept({steps.begin(), later}, keep);
  if (keep.drops_later) {
    gone.insert(gone.end(), later, steps.end());
  }
  for (const std::int64_t old : gone) {
    const std::string aside = TemporaryCheckpointFolder(model_dir, old, "old");
    RemoveFolderWhole(CheckpointFolder(model_dir, old), aside);
  }
}

}  // namespace

std::string SaveCheckpoint(const std::string& model_dir,
                           const Checkpoint& checkpoint,
                           const KeepOptions& keep) {
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
  RemoveOthers(model_dir, step, keep);
  return folder;
}

std::vector<std::int64_t> NotKept(const std::vector<std::int64_t>& steps,
                                  const KeepOptions& keep) {
  Check(keep.last > 0, "at least one checkpoint is kept");
  const auto last = static_cast<std::size_t>(keep.last);
  std::vector<std::int64_t> others;
  for (std::size_t i = 0; i + last < steps.size(); ++i) {
    const bool kept =
        (keep.every > 0 && steps[i] % keep.every == 0) || steps[i] == keep.best;
    if (!kept) {
      others.push_back(steps[i]);
    }
  }
  return others;
}

CheckpointWriter::CheckpointWriter(std::string model_dir, bool beside,
                                   Written written)
    : model_dir_(std::move(model_dir)),
      beside_(beside),
      written_(std::move(written)) {}

void CheckpointWriter::Save(Checkpoint checkpoint, const KeepOptions& keep) {
  Finish();
  step_ = checkpoint.step;
  // Deferred work runs in the thread that asks for its result.
  folder_ = std::async(
      beside_ ? std::launch::async : std::launch::deferred,
      [model_dir = model_dir_, checkpoint = std::move(checkpoint), keep] {
        return SaveCheckpoint(model_dir, checkpoint, keep);
      });
  if (!beside_) {
    Finish();
  }
}

void CheckpointWriter::Finish() {
  if (folder_.valid()) {
    const std::string folder = folder_.get();
    written_(step_, folder);
  }
}

}  // namespace infeed

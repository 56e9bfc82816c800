#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "records/cloud/cloud_runtime.h"
#include "trainer/checkpoint/save.h"
#include "trainer/results/model_dir.h"

// The files that a run still has to upload to an object store.
namespace infeed {

// A folder of checkpoints and exports that wait for their upload. A
// checkpoint's files are hard-linked into it: they survive when the checkpoint
// is deleted and take no space before. An export is moved into it. The contents
// are complete even if the process is killed.
//
// Thread-safe. Throws IoError.
class Outbox {
 public:
  // Creates the folder, which must be on the same disk as what is added, and
  // removes incomplete contents of a killed process.
  explicit Outbox(std::string path);

  // Adds a checkpoint's folder, which may be deleted afterwards.
  void AddCheckpoint(std::int64_t step, const std::string& folder);
  // The steps of the waiting checkpoints, ascending.
  [[nodiscard]] std::vector<std::int64_t> Steps() const {
    const std::lock_guard lock(mutex_);
    return StepsHere();
  }
  [[nodiscard]] std::string FolderOf(std::int64_t step) const {
    return CheckpointFolder(path_, step);
  }
  // The newest checkpoint. It stays until the next call or DropCheckpoint().
  [[nodiscard]] std::optional<std::int64_t> BeginNewest();
  void DropCheckpoint(std::int64_t step) {
    const std::lock_guard lock(mutex_);
    Remove(step);
  }
  // Drops checkpoints that would not be kept on disk either: this bounds the
  // outbox while a store cannot be reached.
  void DropSuperseded(const KeepOptions& keep);

  // Moves a finished export's folder into the outbox, for an upload to
  // URL/NAME, where NAME is the folder's name, or the next number for which the
  // store is known to have no export. Returns the export's future URL.
  [[nodiscard]] std::string AddExport(
      const std::string& folder, const std::string& url,
      const std::shared_ptr<const CloudRuntime>& runtime);
  // The names of the waiting exports.
  [[nodiscard]] std::vector<std::string> Exports() const;
  // Uploads the waiting exports, preprocessing.json last: it marks an export as
  // complete.
  void SendExports(const std::shared_ptr<const CloudRuntime>& runtime,
                   const std::stop_token& stop);

 private:
  [[nodiscard]] std::vector<std::int64_t> StepsHere() const {
    return CheckpointSteps(NamesInFolder(path_));
  }
  [[nodiscard]] std::string FolderOfExport(const std::string& name) const;
  void Remove(std::int64_t step);

  std::string path_;
  mutable std::mutex mutex_;
  std::optional<std::int64_t> begun_;
};

}  // namespace infeed

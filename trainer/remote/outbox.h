#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "records/cloud/cloud_runtime.h"
#include "trainer/checkpoint/save.h"

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
  [[nodiscard]] std::vector<std::int64_t> Steps() const;
  [[nodiscard]] std::string FolderOf(std::int64_t step) const;
  // The newest checkpoint. It stays until the next call or DropCheckpoint().
  [[nodiscard]] std::optional<std::int64_t> BeginNewest();
  void DropCheckpoint(std::int64_t step);
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
  [[nodiscard]] std::vector<std::int64_t> StepsHere() const;
  [[nodiscard]] std::string FolderOfExport(const std::string& name) const;
  void Remove(std::int64_t step);

  std::string path_;
  mutable std::mutex mutex_;
  std::optional<std::int64_t> begun_;
};

// Records which files of a local model directory, except checkpoints, have not
// changed since they were uploaded, and the newest checkpoint uploaded. The
// record is kept in a file, so that it outlives the process.
//
// One thread at a time. Throws IoError.
class SentFiles {
 public:
  // The state of a file: with another size or time it counts as changed.
  struct State {
    std::int64_t size = 0;
    std::int64_t time = 0;  // of its last change, in the file system's units
    bool operator==(const State&) const = default;
  };

  // record: the file of the record; a file that cannot be read counts as
  // missing.
  SentFiles(std::string model_dir, std::string record);

  // The names of the files that have changed since they were sent, or were
  // never sent, sorted: "eval/00000042.json". Hidden files and files being
  // written are left out.
  [[nodiscard]] std::vector<std::string> Changed() const;
  // The current state of a file; size -1 if it is missing.
  [[nodiscard]] State ReadState(const std::string& name) const;

  // Whether a file of this name was ever sent.
  [[nodiscard]] bool WasSent(const std::string& name) const {
    return sent_.contains(name);
  }
  // Records that a file was sent in this state.
  void Note(const std::string& name, const State& state);
  // The newest checkpoint known to have been in the store; -1: none.
  [[nodiscard]] std::int64_t newest_step() const;
  void NoteNewestStep(std::int64_t step);
  // Clears the record, as if nothing had been sent.
  void Forget();

 private:
  void Write() const;

  std::string model_dir_;
  std::string record_;
  std::map<std::string, State> sent_;
};

}  // namespace infeed

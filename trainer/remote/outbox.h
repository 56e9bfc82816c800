#pragma once

#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "trainer/checkpoint/save.h"

namespace infeed {

// A folder of what waits for its upload. A checkpoint's files are linked there,
// so that they stay when the checkpoint is deleted, and take no room before; an
// export is moved there. What is in it is whole, also after the process was
// killed.
//
// Thread-safe. Throws IoError.
class Outbox {
 public:
  // Makes the folder, on the disk where what is added lies, and removes what a
  // killed process was adding.
  explicit Outbox(std::string path);

  // A checkpoint's folder; it may be deleted afterwards.
  void AddCheckpoint(std::int64_t step, const std::string& folder);
  // The steps of those that wait, ascending.
  [[nodiscard]] std::vector<std::int64_t> Steps() const;
  [[nodiscard]] std::string FolderOf(std::int64_t step) const;
  // The newest one; it stays at least until the next call, or is dropped.
  [[nodiscard]] std::optional<std::int64_t> BeginNewest();
  void DropCheckpoint(std::int64_t step);
  // Drops those that a disk would not keep either: what waits for a store that
  // cannot be reached is bounded.
  void DropSuperseded(const KeepOptions& keep);

  // Moves an export's folder here under a name.
  void AddExport(const std::string& folder, const std::string& name);
  [[nodiscard]] std::vector<std::string> Exports() const;
  [[nodiscard]] std::string FolderOfExport(const std::string& name) const;
  void DropExport(const std::string& name);

 private:
  [[nodiscard]] std::vector<std::int64_t> StepsHere() const;
  void Remove(std::int64_t step);

  std::string path_;
  mutable std::mutex mutex_;
  std::optional<std::int64_t> begun_;
};

}  // namespace infeed

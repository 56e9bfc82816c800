#pragma once

#include <cstdint>
#include <string>

namespace infeed {

// A new export, which appears in EXPORT_DIR whole: files are written to a
// hidden folder in it, which Commit() syncs and renames.
//
// Owns that folder, and removes it unless committed. One thread at a time.
// Throws IoError.
class ExportFolder {
 public:
  // Makes export_dir where it is missing.
  explicit ExportFolder(const std::string& export_dir);
  ~ExportFolder();
  ExportFolder(const ExportFolder&) = delete;
  ExportFolder& operator=(const ExportFolder&) = delete;

  // Where to write NAME, with AtomicFile or the like, which syncs it.
  [[nodiscard]] std::string PathFor(const std::string& name) const;

  // Names the folder EXPORT_DIR/<unix_seconds>, or after the next second that
  // has no export yet, and returns that. Servers take the greatest number for
  // the newest. Requires: called once, last.
  std::string Commit(std::int64_t unix_seconds);

 private:
  std::string export_dir_;
  std::string stage_;
};

}  // namespace infeed

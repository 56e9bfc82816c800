#pragma once

#include <cstdint>
#include <string>

namespace infeed {

// Writes a new export, which appears in EXPORT_DIR only when complete: files
// are written to a hidden folder there, which Commit() syncs and renames.
//
// Owns the hidden folder, and removes it unless committed. One thread at a
// time. Throws IoError.
class ExportFolder {
 public:
  // Creates export_dir where it is missing.
  explicit ExportFolder(const std::string& export_dir);
  ~ExportFolder();
  ExportFolder(const ExportFolder&) = delete;
  ExportFolder& operator=(const ExportFolder&) = delete;

  // Where to write NAME, with AtomicFile or the like, which syncs it.
  [[nodiscard]] std::string PathFor(const std::string& name) const;

  // Renames the folder to EXPORT_DIR/<unix_seconds>, or to the next second that
  // has no export yet, and returns the new path. Servers take the greatest
  // number for the newest export. Requires: called once, last.
  std::string Commit(std::int64_t unix_seconds);

 private:
  std::string export_dir_;
  std::string stage_;
};

}  // namespace infeed

#pragma once

#include <cstdint>
#include <string>
#include <vector>

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

// The file of an export that describes how to use its model.
inline constexpr const char* kExportFactsFile = "preprocessing.json";

// The facts about the model in an export's kExportFactsFile.
struct ExportFacts {
  std::vector<std::string> classes;  // names; "" for one without
  std::string model_variant;         // "": it has none
};

// Empty for a folder without such a file, or with an unrelated file of this
// name. Throws IoError.
[[nodiscard]] ExportFacts ReadExportFacts(const std::string& folder);

}  // namespace infeed

#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace infeed {

// Side files in .infeed of a folder of imagenet_to_records: NAME.shard.json for
// each shard, and the conversion that may replace them.
inline constexpr std::string_view kFinishedShardEnding = ".shard.json";
inline constexpr std::string_view kConversionName = "conversion";

// A folder in which new files appear together: they are written to
// FOLDER/.infeed/tmp and renamed by Commit(). A folder in an object store
// (s3://, gs://) has no renames: there each object appears whole when it is
// closed, and Commit() does nothing.
//
// Owns FOLDER/.infeed/tmp and a lock on it. The destructor removes files that
// were not committed. If a run was killed, the constructor finishes its commit
// if that had begun, else removes its files. Const members may be called from
// several threads at once; others need one thread at a time. Throws IoError;
// UsageError when another run is writing to the folder.
class StagedFolder {
 public:
  // Creates the folder if it is missing.
  explicit StagedFolder(std::string folder);
  ~StagedFolder();
  StagedFolder(const StagedFolder&) = delete;
  StagedFolder& operator=(const StagedFolder&) = delete;

  // The folder in which to write files for FOLDER.
  [[nodiscard]] const std::string& stage() const {
    return is_url_ ? folder_ : stage_;
  }
  // The path at which to write the later FOLDER/NAME. Its index file, which a
  // TfrecordWriter makes beside it, moves with it.
  [[nodiscard]] std::string PathFor(const std::string& name) const;
  // The path at which to write the later FOLDER/.infeed/NAME.
  [[nodiscard]] std::string SidePathFor(const std::string& name) const;
  // The path for a temporary file.
  [[nodiscard]] std::string ScratchPathFor(const std::string& name) const;

  // Removes the old files `stale`, with their index files and what says that
  // they are a conversion's, then renames the new files to their final names,
  // dataset.json last. Requires: called once, last.
  void Commit(const std::vector<std::string>& stale);

  [[nodiscard]] const std::string& path() const { return folder_; }

  // Finishes the commit of a killed run, if there is one. Call it before
  // looking at the folder's files.
  static void FinishKilled(const std::string& folder);

 private:
  // A commit has begun while this file exists: it names the old files in FOLDER
  // and FOLDER/.infeed that are still to be removed, each followed by a zero
  // byte.
  [[nodiscard]] std::string JournalPath() const;
  void MakeInnerFolders() const;
  void WriteJournal(const std::vector<std::string>& stale) const;
  void FinishCommit();

  std::string folder_;
  bool is_url_;
  std::string stage_;
  int lock_ = -1;
};

// FOLDER/NAME, for folders and URLs.
[[nodiscard]] inline std::string JoinPath(const std::string& folder,
                                          const std::string& name) {
  return folder.ends_with('/') ? folder + name : folder + "/" + name;
}

// Returns those of these paths, files or URLs, that exist. Throws UsageError if
// any exist, unless overwrite is set.
[[nodiscard]] std::vector<std::string> ExistingOutputs(
    const std::vector<std::string>& paths, bool overwrite);

}  // namespace infeed

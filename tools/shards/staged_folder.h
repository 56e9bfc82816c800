#pragma once

#include <string>
#include <vector>

namespace infeed {

// A folder that new files appear in together: they are written to
// FOLDER/.infeed/tmp and renamed by Commit(). A folder in an object store
// (s3://, gs://) has no renames: there each object appears whole when it is
// closed, and Commit() has nothing to do.
//
// Owns FOLDER/.infeed/tmp and a lock on it; what was not committed goes with
// the object, and what a killed run left goes when the next one begins. Const
// members may be called from several threads at once; others need one thread
// at a time. Throws IoError; UsageError when another run writes there.
class StagedFolder {
 public:
  // Makes the folder where it is missing.
  explicit StagedFolder(std::string folder);
  ~StagedFolder();
  StagedFolder(const StagedFolder&) = delete;
  StagedFolder& operator=(const StagedFolder&) = delete;

  // Where to write what shall be in FOLDER.
  [[nodiscard]] const std::string& stage() const {
    return is_url_ ? folder_ : stage_;
  }
  // Where to write what shall be FOLDER/NAME. Its index file, which a
  // TfrecordWriter makes beside it, moves with it.
  [[nodiscard]] std::string PathFor(const std::string& name) const;
  // Where to write what shall be FOLDER/.infeed/NAME.
  [[nodiscard]] std::string SidePathFor(const std::string& name) const;
  // A place for a file that is only needed meanwhile.
  [[nodiscard]] std::string ScratchPathFor(const std::string& name) const;

  // Removes the old files `stale`, with their index files, then gives the new
  // ones their names, dataset.json last. Requires: called once, last.
  void Commit(const std::vector<std::string>& stale);

  [[nodiscard]] const std::string& path() const { return folder_; }

 private:
  std::string folder_;
  bool is_url_;
  std::string stage_;
  int lock_ = -1;
};

// FOLDER/NAME, for folders and URLs.
[[nodiscard]] std::string JoinPath(const std::string& folder,
                                   const std::string& name);

// Throws UsageError when one of the inputs lies in this folder: a verb that
// writes shards never writes them beside those that it reads.
void RefuseFolderOf(const std::vector<std::string>& inputs,
                    const std::string& folder);

// Returns which of these paths, files or URLs, are there already. Throws
// UsageError when there are some, unless overwrite is set.
[[nodiscard]] std::vector<std::string> ExistingOutputs(
    const std::vector<std::string>& paths, bool overwrite);

}  // namespace infeed

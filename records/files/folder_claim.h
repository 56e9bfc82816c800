#pragma once

#include <string>

namespace infeed {

// Holds a folder for its writer: a lock on a file in it, which the kernel gives
// back whatever ends the process. The file goes with the object.
//
// Where the file system has no locks nothing is held.
class FolderClaim {
 public:
  enum class Kind {
    kAlone,   // no other claim beside it
    kShared,  // others that share as well
  };

  // Makes the folder, and takes FOLDER/NAME. Throws UsageError that names the
  // process that has it, and IoError.
  FolderClaim(const std::string& folder, const std::string& name, Kind kind);
  ~FolderClaim();
  FolderClaim(const FolderClaim&) = delete;
  FolderClaim& operator=(const FolderClaim&) = delete;

 private:
  std::string path_;
  int descriptor_ = -1;
  Kind kind_;
};

}  // namespace infeed

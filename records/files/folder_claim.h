#pragma once

#include <string>

namespace infeed {

// Claims a folder for its writer by a lock on a file in it. The kernel releases
// the lock however the process ends. The destructor removes the file.
//
// On a file system without locks nothing is held.
class FolderClaim {
 public:
  enum class Kind {
    kAlone,   // excludes all other claims
    kShared,  // allows other shared claims
  };

  // Makes the folder and locks FOLDER/NAME. Throws UsageError, naming the
  // process that holds it, and IoError.
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

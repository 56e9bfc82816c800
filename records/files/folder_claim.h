#pragma once

#include <string>

#include "base/descriptor.h"

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

  // Makes the folder and locks FOLDER/NAME. own_names: of FOLDER/NAME, as in
  // own_files.h. Throws UsageError, naming the process that holds it, and
  // IoError.
  FolderClaim(const std::string& folder, const std::string& name, Kind kind,
              int own_names = 1);
  ~FolderClaim();
  FolderClaim(const FolderClaim&) = delete;
  FolderClaim& operator=(const FolderClaim&) = delete;

 private:
  std::string path_;
  Descriptor file_;
  Kind kind_;
};

}  // namespace infeed

#pragma once

#include <string>
#include <string_view>

#include "base/descriptor.h"

namespace infeed {

// A log that grows while a run lives: metrics.jsonl and event files. Appends
// whole pieces, each with one write(2), so that pieces of two writers never
// mix.
//
// Owns the open file. One thread at a time. Throws IoError; a piece of which a
// full disk wrote only a part is cut off again.
class AppendFile {
 public:
  // Opens the file; makes it if missing, and its folder unless the user named
  // the file. own_names: as in own_files.h.
  explicit AppendFile(std::string path, int own_names = 1);

  void Append(std::string_view piece);

  // Opens the file at the path anew, and makes it again, if somebody removed it
  // or moved it away. Goes on with the open one where that fails. Requires: the
  // user did not name the file.
  void FollowPath();

  // Whether the file's last byte is c; true when it is empty.
  [[nodiscard]] bool EndsWith(char c) const;

  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  [[nodiscard]] Descriptor OpenOwn() const;

  std::string path_;
  int own_names_;
  Descriptor file_;
};

// The current time in seconds since 1970, as logs record it.
[[nodiscard]] double UnixSeconds();

}  // namespace infeed

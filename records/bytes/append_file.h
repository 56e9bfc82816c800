#pragma once

#include <string>
#include <string_view>

namespace infeed {

// A log that grows while a run lives: metrics.jsonl and event files. Appends
// whole pieces, each with one write(2), so that pieces of two writers never
// mix.
//
// Owns the open file. One thread at a time. Throws IoError; a piece of which a
// full disk wrote only a part is cut off again.
class AppendFile {
 public:
  // Opens the file; makes it and its folder if missing.
  explicit AppendFile(std::string path);
  ~AppendFile();
  AppendFile(const AppendFile&) = delete;
  AppendFile& operator=(const AppendFile&) = delete;

  void Append(std::string_view piece);

  // Whether the file's last byte is c; true when it is empty.
  [[nodiscard]] bool EndsWith(char c) const;

  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  std::string path_;
  int descriptor_ = -1;
};

// The current time in seconds since 1970, as logs record it.
[[nodiscard]] double UnixSeconds();

}  // namespace infeed

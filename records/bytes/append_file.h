#pragma once

#include <string>
#include <string_view>

namespace infeed {

// A log that grows while a run lives: metrics.jsonl and event files. Appends
// whole pieces, each with one write(2), so that two writers do not mix within
// a piece.
//
// Owns the open file. One thread at a time. Throws IoError; what a full disk
// took only part of is cut off again.
class AppendFile {
 public:
  // Opens the file, and makes it and its folder where they are missing.
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

// Seconds since 1970, as logs have them.
[[nodiscard]] double UnixSeconds();

}  // namespace infeed

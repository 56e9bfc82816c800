#pragma once

#include <filesystem>
#include <functional>
#include <string>

#include "base/error.h"
#include "base/program_end.h"

namespace infeed {

// The checks before a run's work. In a run, the first problem's error ends the
// run. A dry run prints each problem and continues with the checks that do not
// depend on it; so every check is in a Do().
//
// One thread at a time.
class Preparation {
 public:
  explicit Preparation(bool is_dry_run) : is_dry_run_(is_dry_run) {}

  // Runs a check. Returns false where it found a problem, in a dry run.
  bool Do(const std::function<void()>& check);

  [[nodiscard]] bool is_dry_run() const { return is_dry_run_; }
  // The end of a dry run, with the number of problems and the exit code of the
  // run's first one.
  [[nodiscard]] ProgramEnd End() const;

 private:
  void Add(ExitCode code, const std::string& message);

  bool is_dry_run_;
  ExitCode code_ = ExitCode::kDone;
  int problems_ = 0;
};

// The path, absolute, or its nearest parent that exists.
[[nodiscard]] std::filesystem::path NearestThere(const std::string& path);

// Throw IoError unless a run could write into the folder, or the file; neither
// needs to exist. Nothing is written. URLs are not checked.
void RequireWritableFolder(const std::string& folder);
void RequireWritableFile(const std::string& path);
// RequireWritableFolder() for the model directory, and the files that a run
// writes in it.
void RequireWritableModelDir(const std::string& model_dir);

}  // namespace infeed

#include "trainer/run/preparation.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <exception>
#include <system_error>

#include <fmt/format.h>

#include "base/count_text.h"
#include "records/files/open_source.h"
#include "trainer/groups/torch_errors.h"
#include "trainer/results/model_dir.h"
#include "trainer/run/job.h"

namespace infeed {
namespace {

namespace fs = std::filesystem;

// Makes a file without a name in the folder, if the file system supports that:
// permissions alone do not show whether files can be made. path: for the
// message.
void RequireNewFiles(const std::string& folder, const std::string& path) {
  const int file =
      ::open(folder.c_str(), O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600);
  if (file >= 0) {
    ::close(file);
    return;
  }
  const bool is_unknown =
      errno == EOPNOTSUPP || errno == EISDIR || errno == EINVAL;
  if (!is_unknown || ::access(folder.c_str(), W_OK | X_OK) != 0) {
    throw IoError(path, "write", errno);
  }
}

}  // namespace

bool Preparation::Do(const std::function<void()>& check) {
  if (!is_dry_run_) {
    check();
    return true;
  }
  try {
    TranslateTorchErrors(check);
    return true;
  } catch (const UsageError& error) {
    Add(ExitCode::kUsageError, error.what());
  } catch (const UnusableCheckpoints& error) {
    Add(ExitCode::kCheckpointUnusable, error.what());
  } catch (const DataError& error) {
    Add(ExitCode::kDataError, error.what());
  } catch (const std::exception& error) {
    Add(ExitCode::kRuntimeError, error.what());
  }
  return false;
}

void Preparation::Add(ExitCode code, const std::string& message) {
  Say("problem: " + message);
  code_ = problems_++ == 0 ? code : code_;
}

ProgramEnd Preparation::End() const {
  const std::string text = fmt::format("dry run: nothing was written, {} found",
                                       CountText(problems_, "problem"));
  if (problems_ == 0) {
    Say(text);
  }
  return {code_, text};
}

fs::path NearestThere(const std::string& path) {
  fs::path nearest = fs::absolute(path).lexically_normal();
  std::error_code ignored;
  while (!fs::exists(fs::symlink_status(nearest, ignored)) &&
         nearest.has_relative_path()) {
    nearest = nearest.parent_path();
  }
  return nearest;
}

void RequireWritableFolder(const std::string& folder) {
  if (IsUrl(folder)) {
    return;
  }
  const fs::path nearest = NearestThere(folder);
  std::error_code ignored;
  if (!fs::is_directory(nearest, ignored)) {
    throw IoError(folder, "write", ENOTDIR);
  }
  RequireNewFiles(nearest.string(), folder);
}

void RequireWritableFile(const std::string& path) {
  if (path.empty() || IsUrl(path)) {
    return;
  }
  std::error_code ignored;
  if (fs::is_directory(path, ignored)) {
    throw IoError(path, "write", EISDIR);
  }
  if (fs::exists(path, ignored)) {
    if (::access(path.c_str(), W_OK) != 0) {
      throw IoError(path, "write", errno);
    }
    return;  // Also a device, such as /dev/stdout.
  }
  RequireNewFiles(fs::absolute(path).parent_path().string(), path);
}

void RequireWritableModelDir(const std::string& model_dir) {
  RequireWritableFolder(model_dir);
  RequireWritableFolder(EvalFolder(model_dir));
  for (const std::string& path :
       {MetricsPath(model_dir), PathIn(model_dir, kReportFile)}) {
    if (fs::exists(path)) {
      RequireWritableFile(path);
    }
  }
}

}  // namespace infeed

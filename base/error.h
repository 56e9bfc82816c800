#pragma once

#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

// All exceptions that this project throws. Each type has one meaning and one
// exit code, which programs return from main.
namespace infeed {

class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// A flag, parameter or option is wrong; the message names it and says what to
// give instead. Exit code 2.
class UsageError : public Error {
 public:
  using Error::Error;
};

// An operating-system or network error: a file, a device, a server. Exit code
// 1.
class IoError : public Error {
 public:
  explicit IoError(const std::string& message) : Error(message) {}

  // "PATH: cannot ACTION: TEXT OF ERRNO (WHAT TO DO)". Requires: errno_value
  // is the errno of the call that failed.
  IoError(std::string_view path, std::string_view action, int errno_value)
      : Error(Describe(path, action, errno_value)), errno_value_(errno_value) {}

  [[nodiscard]] int errno_value() const { return errno_value_; }

 private:
  static std::string_view Advice(int errno_value) {
    switch (errno_value) {
      case ENOENT:
        return " (check the path)";
      case EACCES:
      case EPERM:
      case EROFS:
        return " (check the permissions, or give another path)";
      case ENOSPC:
      case EDQUOT:
        return " (free some space or give another path, then run again)";
      case EMFILE:
        return " (raise the limit on open files: ulimit -n)";
      default:
        return "";
    }
  }

  static std::string Describe(std::string_view path, std::string_view action,
                              int errno_value) {
    std::string text(path);
    text.append(": cannot ").append(action).append(": ");
    text.append(std::generic_category().message(errno_value));
    return text.append(Advice(errno_value));
  }

  int errno_value_ = 0;
};

// A stop request (a signal) ends the current work. Not a failure: programs exit
// with kStoppedBySignal.
class StoppedError : public IoError {
 public:
  StoppedError() : IoError("stopped by a signal") {}
};

// Damaged or invalid data: a wrong checksum, a truncated frame, a bad Example,
// a bad JPEG. Exit code 3. Parsers below the reader have neither file nor
// offset and throw the message alone; a caller that has the origin adds it with
// At().
class DataError : public Error {
 public:
  // The place of the bad bytes. record counts from 0 within the file; offset is
  // that of the record's first byte (its frame header); -1 if not known.
  struct Origin {
    std::string path;
    std::int64_t record = -1;
    std::int64_t offset = -1;
  };

  explicit DataError(const std::string& reason)
      : Error(reason), reason_(reason) {}

  DataError(Origin origin, const std::string& reason)
      : Error(Describe(origin, reason)),
        origin_(std::move(origin)),
        reason_(reason) {}

  // Returns the same error with its origin filled in.
  [[nodiscard]] DataError At(Origin origin) const {
    return DataError(std::move(origin), reason_);
  }

  [[nodiscard]] const Origin& origin() const { return origin_; }
  [[nodiscard]] const std::string& reason() const { return reason_; }

 private:
  // "PATH: record 17 at byte 4242: REASON".
  static std::string Describe(const Origin& origin, const std::string& reason) {
    std::string text = origin.path;
    if (origin.record >= 0) {
      text.append(": record ").append(std::to_string(origin.record));
    }
    if (origin.offset >= 0) {
      text.append(origin.record >= 0 ? " at byte " : ": at byte ");
      text.append(std::to_string(origin.offset));
    }
    return text.append(": ").append(reason);
  }

  Origin origin_;
  std::string reason_;
};

// Returns parse(); a DataError that it throws gets the path of the file.
template <typename Parse>
auto InFile(const std::string& path, const Parse& parse) {
  try {
    return parse();
  } catch (const DataError& error) {
    throw error.At({.path = path});
  }
}

// Exit codes that every program shares; docs/troubleshooting.md documents them.
enum class ExitCode : int {
  kDone = 0,
  kRuntimeError = 1,
  kUsageError = 2,
  kDataError = 3,
  kCheckpointUnusable = 4,
  kNonFiniteLoss = 5,
  kStoppedBySignal = 75,  // EX_TEMPFAIL: checkpoint written, run again
};

// Aborts with the place and the reason when a condition that only a bug can
// break does not hold. Never use it for conditions that depend on input. The
// printed place is the caller's (clang 14 has no std::source_location).
inline void Check(bool condition, const char* why,
                  const char* file = __builtin_FILE(),
                  int line = __builtin_LINE()) {
  if (condition) [[likely]] {
    return;
  }
  // The only place that prints below tools/: the process is about to abort.
  std::fprintf(stderr, "%s:%d: check failed: %s\n", file, line, why);
  std::abort();
}

}  // namespace infeed

#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace infeed {

// Mirrors a run's local folders to an object store: downloads its inputs,
// uploads its outputs. RunOptions::storage is null for a run that uses no
// store.
//
// One thread at a time.
class RunStorage {
 public:
  virtual ~RunStorage() = default;

  // Whether the model_dir is in the store: its mirror is created and locked
  // already.
  [[nodiscard]] virtual bool HasModelDir() const = 0;

  // Starts the upload of a new checkpoint and of the log's files.
  virtual void UploadCheckpoint(std::int64_t step,
                                const std::string& folder) = 0;
  // Starts the upload of the log's files.
  virtual void UploadLog() = 0;

  // For a run that follows another run's checkpoints: downloads the newest one,
  // if it is newer than the local ones, and starts the upload of new files. If
  // the store fails, the error is printed, and the next call tries again.
  virtual void Refresh() = 0;

  // The local path of the weights at a path or URL or of this name
  // (named_weights.h), downloaded at the first call. Throws IoError, and
  // UsageError naming the parameter.
  [[nodiscard]] virtual std::string Fetched(const std::string& given,
                                            std::string_view parameter) = 0;

  // The text with the local paths of files of the store replaced by their URLs.
  // Thread-safe.
  [[nodiscard]] virtual std::string WithUrl(std::string text) const = 0;

  // Starts the upload of a finished export; returns the name to print for it.
  [[nodiscard]] virtual std::string Exported(const std::string& folder) = 0;
};

}  // namespace infeed

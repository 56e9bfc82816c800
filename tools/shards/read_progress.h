#pragma once

#include <cstdint>
#include <mutex>
#include <string>

#include "base/charts/progress.h"

namespace infeed {

// The state of a pass over files.
struct ReadProgressState {
  std::int64_t bytes = 0;
  std::int64_t total_bytes = 0;
  std::int64_t records = 0;
  double seconds = 0;  // since the start
};

// "1.2 GB of 4.0 GB  30 %  512.0 MB/s  12345 records  ETA 5s".
[[nodiscard]] std::string ReadProgressText(const ReadProgressState& state);

// Shows the progress of a pass over files on stderr, unless it is short.
// Thread-safe.
class ReadProgress {
 public:
  explicit ReadProgress(std::int64_t total_bytes);
  ~ReadProgress();  // Clears the line.
  ReadProgress(const ReadProgress&) = delete;
  ReadProgress& operator=(const ReadProgress&) = delete;

  void Add(std::int64_t bytes, std::int64_t records);

 private:
  std::mutex mutex_;
  ReadProgressState state_;
  ProgressLine line_;
};

}  // namespace infeed

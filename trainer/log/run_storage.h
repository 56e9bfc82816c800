#pragma once

#include <memory>
#include <string>
#include <utility>

#include "trainer/log/run_log.h"

namespace infeed {

// What lies between a run whose folders are on this disk and the object store
// where they really are: brings here what the run reads, takes there what it
// leaves. A run that has nothing there has none (RunOptions::storage).
//
// One thread at a time.
class RunStorage {
 public:
  virtual ~RunStorage() = default;

  // A log that passes on what it is told, and lets each checkpoint and what the
  // log wrote be taken away.
  [[nodiscard]] virtual std::unique_ptr<RunLog> Watched(
      std::unique_ptr<RunLog> log) = 0;

  // For who follows another run's checkpoints: brings the newest one, if it is
  // newer than those here, and has new files taken away. What the store refuses
  // is said and tried again by the next call.
  virtual void Refresh() = 0;

  // Where the weights that a path or URL stands for lie on this disk. Throws
  // IoError.
  [[nodiscard]] virtual std::string Fetched(const std::string& path) = 0;

  // Takes a finished export away, and returns what to call it.
  [[nodiscard]] virtual std::string Exported(const std::string& folder) = 0;
};

// `log` as it is where there is no storage.
[[nodiscard]] inline std::unique_ptr<RunLog> WatchedBy(
    RunStorage* storage, std::unique_ptr<RunLog> log) {
  return storage == nullptr ? std::move(log) : storage->Watched(std::move(log));
}

}  // namespace infeed

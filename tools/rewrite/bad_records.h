#pragma once

#include <atomic>
#include <cstdint>

#include "base/error.h"

namespace infeed {

// The policy for bad records while good ones are copied: a bad record ends the
// work with advice; or bad records are left out and counted, and the first ones
// named on stderr. Thread-safe.
class BadRecords {
 public:
  enum class Policy { kFail, kSkip, kSkipSilently };

  explicit BadRecords(Policy policy) : policy_(policy) {}

  // Throws the error with advice added, or counts it.
  void Take(const DataError& error);

  [[nodiscard]] bool skips() const { return policy_ != Policy::kFail; }
  [[nodiscard]] std::int64_t count() const { return count_; }

 private:
  const Policy policy_;
  std::atomic<std::int64_t> count_ = 0;
};

}  // namespace infeed

#pragma once

#include <atomic>
#include <cstdint>

#include "base/error.h"

namespace infeed {

// What becomes of bad records while good ones are written elsewhere: they end
// the work with advice, or are left out, counted, and the first ones named on
// stderr. Thread-safe.
class BadRecords {
 public:
  enum class Policy { kFail, kSkip, kSkipSilently };

  explicit BadRecords(Policy policy) : policy_(policy) {}

  // Throws the error, with advice, or counts it.
  void Take(const DataError& error);

  [[nodiscard]] bool skips() const { return policy_ != Policy::kFail; }
  [[nodiscard]] std::int64_t count() const { return count_; }

 private:
  const Policy policy_;
  std::atomic<std::int64_t> count_ = 0;
};

}  // namespace infeed

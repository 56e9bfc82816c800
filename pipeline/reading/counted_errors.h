#pragma once

#include <cstdint>
#include <mutex>
#include <string>

#include "base/error.h"
#include "base/random.h"

namespace infeed {

// Counts a run's errors of one kind and keeps the first. Thread-safe.
class CountedErrors {
 public:
  void Count(const SampleKey& key, const DataError& error);
  [[nodiscard]] std::int64_t count() const;
  // The message of the first error in stream order; empty: none.
  [[nodiscard]] std::string first() const;

 private:
  mutable std::mutex mutex_;
  std::int64_t count_ = 0;
  SampleKey first_key_;
  std::string first_;
};

}  // namespace infeed

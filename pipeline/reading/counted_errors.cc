#include "pipeline/reading/counted_errors.h"

#include <tuple>

namespace infeed {

void CountedErrors::Count(const SampleKey& key, const DataError& error) {
  const std::lock_guard lock(mutex_);
  ++count_;
  if (first_.empty() || std::tie(key.epoch, key.position) <
                            std::tie(first_key_.epoch, first_key_.position)) {
    first_key_ = key;
    first_ = error.what();
  }
}

std::int64_t CountedErrors::count() const {
  const std::lock_guard lock(mutex_);
  return count_;
}

std::string CountedErrors::first() const {
  const std::lock_guard lock(mutex_);
  return first_;
}

}  // namespace infeed

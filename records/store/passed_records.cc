#include "records/store/passed_records.h"

#include <utility>

namespace infeed {

void PassedRecords::Keep(std::int64_t record,
                         std::span<const std::byte> frame) {
  const auto size = static_cast<std::int64_t>(frame.size());
  if (size > max_bytes_) {
    return;
  }
  std::vector<std::byte> copy(frame.begin(), frame.end());
  const std::lock_guard lock(mutex_);
  if (entries_.contains(record)) {
    return;
  }
  while (bytes_ + size > max_bytes_) {
    DropOldest();
  }
  order_.push_back({record, ++age_});
  entries_.emplace(record, Entry{std::move(copy), age_});
  bytes_ += size;
}

std::optional<std::vector<std::byte>> PassedRecords::Take(std::int64_t record) {
  const std::lock_guard lock(mutex_);
  auto found = entries_.extract(record);
  if (found.empty()) {
    return std::nullopt;
  }
  std::vector<std::byte> frame = std::move(found.mapped().frame);
  bytes_ -= static_cast<std::int64_t>(frame.size());
  // Skips places at the front whose records were taken.
  while (!order_.empty()) {
    const auto oldest = entries_.find(order_.front().record);
    if (oldest != entries_.end() && oldest->second.age == order_.front().age) {
      break;
    }
    order_.pop_front();
  }
  return frame;
}

std::int64_t PassedRecords::bytes() const {
  const std::lock_guard lock(mutex_);
  return bytes_;
}

// Requires: a record is kept.
void PassedRecords::DropOldest() {
  const Place place = order_.front();
  order_.pop_front();
  const auto found = entries_.find(place.record);
  if (found != entries_.end() && found->second.age == place.age) {
    bytes_ -= static_cast<std::int64_t>(found->second.frame.size());
    entries_.erase(found);
  }
}

}  // namespace infeed

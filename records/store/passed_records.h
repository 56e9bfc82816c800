#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

namespace infeed {

// Frames of records that were unpacked on the way to others and have not been
// requested yet. Owns copies of at most max_bytes; the oldest are dropped
// first. Thread-safe.
class PassedRecords {
 public:
  explicit PassedRecords(std::int64_t max_bytes) : max_bytes_(max_bytes) {}

  // Keeps a record's frame, unless it alone is over the limit.
  void Keep(std::int64_t record, std::span<const std::byte> frame);

  // Removes and returns a record's frame; nullopt if it is not kept.
  [[nodiscard]] std::optional<std::vector<std::byte>> Take(std::int64_t record);

  [[nodiscard]] std::int64_t bytes() const;

 private:
  struct Entry {
    std::vector<std::byte> frame;
    std::int64_t age = 0;  // place in the order of all kept records
  };
  // The order of Keep() calls; places of taken records are skipped.
  struct Place {
    std::int64_t record = 0;
    std::int64_t age = 0;
  };
  void DropOldest();

  const std::int64_t max_bytes_;
  mutable std::mutex mutex_;
  std::unordered_map<std::int64_t, Entry> entries_;
  std::deque<Place> order_;
  std::int64_t bytes_ = 0;
  std::int64_t age_ = 0;
};

}  // namespace infeed

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
// asked for yet. Owns copies of at most so many bytes; the oldest go first.
// Thread-safe.
class PassedRecords {
 public:
  explicit PassedRecords(std::int64_t max_bytes) : max_bytes_(max_bytes) {}

  // Keeps a record's frame, unless it alone is over the limit.
  void Keep(std::int64_t record, std::span<const std::byte> frame);

  // Takes a record's frame out; nullopt: it is not here.
  [[nodiscard]] std::optional<std::vector<std::byte>> Take(std::int64_t record);

  [[nodiscard]] std::int64_t bytes() const;

 private:
  struct Entry {
    std::vector<std::byte> frame;
    std::int64_t age = 0;  // counted from the start
  };
  // The order of coming; what was taken meanwhile is passed over.
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

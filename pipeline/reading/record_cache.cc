#include "pipeline/reading/record_cache.h"

#include <algorithm>
#include <new>

#include "base/error.h"
#include "base/rounding.h"

namespace infeed {
namespace {

// Large enough for huge pages, small enough that the unused rest of the last
// chunk does not matter.
constexpr std::int64_t kChunk = std::int64_t{16} << 20;
constexpr std::size_t kRecordAlignment = 8;

}  // namespace

// In front of each payload.
struct RecordCache::Head {
  std::size_t payload_bytes = 0;
  std::size_t index_bytes = 0;
  std::optional<std::uint32_t> crc32c = {};
  std::optional<std::uint32_t> stored_crc = {};
};

RecordCache::RecordCache(std::int64_t limit_bytes, std::int64_t records)
    : limit_(limit_bytes) {
  Check(records > 0, "there are records to keep");
  const auto table_bytes = static_cast<std::size_t>(records) * sizeof(Place);
  const auto taken =
      static_cast<std::int64_t>(PageMemory::RoundUp(table_bytes));
  if (taken >= limit_) {
    return;
  }
  table_.emplace(table_bytes);
  taken_ = taken;
  places_ = {new (table_->bytes().data())
                 Place[static_cast<std::size_t>(records)],
             static_cast<std::size_t>(records)};
}

bool RecordCache::Has(std::int64_t record) const {
  return !places_.empty() && places_[static_cast<std::size_t>(record)].load(
                                 std::memory_order_relaxed) != nullptr;
}

std::optional<CachedRecord> RecordCache::Find(std::int64_t record) const {
  if (places_.empty()) {
    return std::nullopt;
  }
  const Head* const head =
      places_[static_cast<std::size_t>(record)].load(std::memory_order_acquire);
  if (head == nullptr) {
    return std::nullopt;
  }
  hits_.fetch_add(1, std::memory_order_relaxed);
  const auto* const payload = reinterpret_cast<const std::byte*>(head + 1);
  return CachedRecord{
      .payload = {.bytes = {payload, head->payload_bytes},
                  .crc32c = head->crc32c,
                  .stored_crc = head->stored_crc},
      .seek_index = {payload + head->payload_bytes, head->index_bytes}};
}

void RecordCache::Keep(std::int64_t number, const CachedRecord& record) {
  if (places_.empty() || Has(number)) {
    return;
  }
  const std::span<const std::byte> payload = record.payload.bytes;
  const std::span<const std::byte> index = record.seek_index;
  std::byte* const room = Reserve(
      RoundUp(sizeof(Head) + payload.size() + index.size(), kRecordAlignment));
  if (room == nullptr) {
    return;
  }
  std::ranges::copy(index, std::ranges::copy(payload, room + sizeof(Head)).out);
  // Two threads may have read the same record, as a substitute may be drawn
  // twice: both copies are valid, and the room of one is lost.
  places_[static_cast<std::size_t>(number)].store(
      new (room) Head{payload.size(), index.size(), record.payload.crc32c,
                      record.payload.stored_crc},
      std::memory_order_release);
}

std::byte* RecordCache::Reserve(std::size_t bytes) {
  const std::lock_guard lock(mutex_);
  if (bytes > free_.size()) {
    const std::int64_t wanted =
        std::max(kChunk, static_cast<std::int64_t>(PageMemory::RoundUp(bytes)));
    if (wanted > limit_ - taken_) {
      return nullptr;
    }
    chunks_.emplace_back(static_cast<std::size_t>(wanted));
    taken_ += wanted;
    free_ = chunks_.back().bytes();
  }
  std::byte* const room = free_.data();
  free_ = free_.subspan(bytes);
  ++records_;
  return room;
}

RecordCacheStats RecordCache::stats() const {
  const std::lock_guard lock(mutex_);
  return {.records = records_,
          .bytes = taken_,
          .limit_bytes = limit_,
          .hits = hits_.load(std::memory_order_relaxed)};
}

}  // namespace infeed

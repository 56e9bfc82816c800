#include "pipeline/reading/found_seek_indexes.h"

#include <pthread.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/error.h"

namespace infeed {
namespace {

// Bytes that the allocator adds to an entry.
constexpr std::int64_t kEntryOverhead = 16;
// A shard's file is written again if at least one row in this many is new.
constexpr std::int64_t kWorthOneIn = 64;

}  // namespace

struct FoundSeekIndexes::Entry {
  explicit Entry(const FoundSeekIndex& found)
      : size(static_cast<std::uint32_t>(found.sealed.size())),
        replaces(found.replaces),
        bytes(new std::byte[size]) {
    std::memcpy(bytes.get(), found.sealed.data(), size);
  }

  [[nodiscard]] std::int64_t cost() const {
    return static_cast<std::int64_t>(sizeof(Entry)) + size + 2 * kEntryOverhead;
  }

  std::uint32_t size;
  bool replaces;
  std::unique_ptr<std::byte[]> bytes;
};

FoundSeekIndexes::FoundSeekIndexes(const RecordIndex& index, SeekStore& store,
                                   std::int64_t limit_bytes,
                                   std::string_view image_key)
    : index_(index),
      store_(store),
      limit_(limit_bytes),
      image_key_(image_key),
      shards_(store.place_count()),
      entries_(static_cast<std::size_t>(index.size())),
      bytes_(index.size() * static_cast<std::int64_t>(sizeof(entries_[0]))),
      can_write_(index.uses_cache() &&
                 (!index.is_of_images() || !index.kept_root().empty())) {
  first_records_.push_back(0);
  for (std::size_t shard = 0; shard < shards_.size(); ++shard) {
    first_records_.push_back(
        first_records_.back() +
        (index.is_of_images() ? index.size() : index.shard_size(shard)));
  }
  if (can_write_) {
    saver_ = std::jthread(
        [this](const std::stop_token& stop) { SaveWhenAsked(stop); });
  }
}

FoundSeekIndexes::~FoundSeekIndexes() {
  if (saver_.joinable()) {
    saver_.request_stop();
    saver_.join();
  }
  SaveShards({});
}

std::size_t FoundSeekIndexes::ShardOf(std::int64_t record) const {
  return index_.is_of_images()
             ? 0
             : static_cast<std::size_t>(index_.at(record).shard);
}

std::span<const std::byte> FoundSeekIndexes::Find(
    std::int64_t record, std::vector<std::byte>& buffer) const {
  const std::lock_guard lock(MutexOf(record));
  const Entry* const entry = entries_[static_cast<std::size_t>(record)].get();
  if (entry == nullptr) {
    return {};
  }
  if (buffer.size() < entry->size) {
    buffer.resize(entry->size);
  }
  std::memcpy(buffer.data(), entry->bytes.get(), entry->size);
  return std::span(buffer).first(entry->size);
}

void FoundSeekIndexes::Keep(std::int64_t record, const FoundSeekIndex& found) {
  auto entry = std::make_unique<Entry>(found);
  const std::int64_t cost = entry->cost();
  if (bytes_.load(std::memory_order_relaxed) + cost > limit_) {
    return;
  }
  {
    const std::lock_guard lock(MutexOf(record));
    std::unique_ptr<Entry>& kept = entries_[static_cast<std::size_t>(record)];
    // A decode at the same time may have found an index that covers more.
    if (kept != nullptr && !found.replaces && kept->size >= entry->size) {
      return;
    }
    entry->replaces |= kept != nullptr && kept->replaces;
    bytes_.fetch_add(cost - (kept != nullptr ? kept->cost() : 0),
                     std::memory_order_relaxed);
    kept = std::move(entry);
  }
  Shard& shard = shards_[ShardOf(record)];
  shard.rows.fetch_add(found.new_rows, std::memory_order_relaxed);
  shard.new_rows.fetch_add(found.new_rows, std::memory_order_relaxed);
  if (can_write_ && bytes_.load(std::memory_order_relaxed) > limit_ / 4 * 3) {
    Save();
  }
}

void FoundSeekIndexes::Save() {
  const std::lock_guard lock(mutex_);
  if (!std::exchange(is_asked_, true)) {
    asked_.notify_all();
  }
}

void FoundSeekIndexes::SaveWhenAsked(const std::stop_token& stop) {
  (void)::pthread_setname_np(::pthread_self(), "infeed seek");
  for (;;) {
    {
      std::unique_lock lock(mutex_);
      if (!asked_.wait(lock, stop, [this] { return is_asked_; })) {
        return;
      }
      is_asked_ = false;
    }
    SaveShards(stop);
  }
}

void FoundSeekIndexes::SaveShards(const std::stop_token& stop) {
  try {
    for (std::size_t i = 0; i < shards_.size() && !stop.stop_requested(); ++i) {
      const std::int64_t fresh = shards_[i].new_rows;
      if (can_write_ && fresh > 0 && fresh * kWorthOneIn >= shards_[i].rows) {
        SaveShard(i);
      }
    }
  } catch (const std::exception& error) {
    can_write_ = false;
    const std::lock_guard lock(mutex_);
    write_error_ = error.what();
  }
}

void FoundSeekIndexes::SaveShard(std::size_t shard) {
  const std::int64_t first = first_records_[shard];
  const auto records =
      static_cast<std::size_t>(first_records_[shard + 1] - first);
  const std::int64_t fresh = shards_[shard].new_rows;
  std::vector<std::uint32_t> sizes(records);
  AddToSeekFile(index_, shard, image_key_, [&](std::int64_t number) {
    const std::int64_t record = first + number;
    const std::lock_guard lock(MutexOf(record));
    const Entry* const entry = entries_[static_cast<std::size_t>(record)].get();
    AddedSeekIndex added;
    if (entry != nullptr) {
      added.sealed.assign(reinterpret_cast<const char*>(entry->bytes.get()),
                          entry->size);
      added.replaces = entry->replaces;
      sizes[static_cast<std::size_t>(number)] = entry->size;
    }
    return added;
  });
  shards_[shard].new_rows.fetch_sub(fresh, std::memory_order_relaxed);
  store_.Reopen(shard);
  Forget(first, sizes);
}

void FoundSeekIndexes::Forget(std::int64_t first,
                              const std::vector<std::uint32_t>& sizes) {
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    const std::int64_t record = first + static_cast<std::int64_t>(i);
    const std::lock_guard lock(MutexOf(record));
    std::unique_ptr<Entry>& entry = entries_[static_cast<std::size_t>(record)];
    if (entry != nullptr && entry->size == sizes[i]) {
      bytes_.fetch_sub(entry->cost(), std::memory_order_relaxed);
      entry = nullptr;
    }
  }
}

std::string FoundSeekIndexes::write_error() const {
  const std::lock_guard lock(mutex_);
  return write_error_;
}

}  // namespace infeed

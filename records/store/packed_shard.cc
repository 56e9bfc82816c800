#include "records/store/packed_shard.h"

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <system_error>
#include <utility>

#include "records/files/open_source.h"
#include "records/tfrecord/byte_stream.h"

namespace infeed {
namespace {

constexpr std::size_t kUnpackBytes = std::size_t{256} << 10;
constexpr std::int64_t kNothing = std::numeric_limits<std::int64_t>::max();

std::size_t FrameBytes(const RecordLocation& location) {
  return static_cast<std::size_t>(location.end() - location.offset);
}

}  // namespace

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

// A position in the unpacked stream, in front of a record.
class PackedShard::Cursor {
 public:
  Cursor(std::shared_ptr<const ByteSource> source, std::int64_t first)
      : source_(std::move(source)),
        buffer_(OpenStream(*source_), kUnpackBytes),
        next_(first) {}

  [[nodiscard]] std::int64_t next() const { return next_; }

  // Returns the next record's frame, valid until the next call, and moves
  // behind it. Throws DataError, without an origin, when the stream does not
  // hold the frame.
  std::span<const std::byte> Next(const RecordLocation& location) {
    // A tar may begin with members of no sample.
    const auto frame = buffer_.ViewAhead(location.offset, FrameBytes(location));
    if (frame.size() < FrameBytes(location)) {
      throw DataError(
          "the unpacked bytes end here; the file changed after it was indexed");
    }
    ++next_;
    return frame;
  }

 private:
  std::shared_ptr<const ByteSource> source_;
  StreamBuffer buffer_;
  std::int64_t next_;
};

PackedShard::PackedShard(const RecordIndex& index, std::int64_t first_record,
                         std::int64_t records, std::int64_t near_records,
                         PassedRecords& passed, Open open)
    : index_(index),
      first_record_(first_record),
      end_record_(first_record + records),
      near_records_(near_records),
      passed_(passed),
      open_(std::move(open)) {}

PackedShard::~PackedShard() = default;

std::size_t PackedShard::Read(std::int64_t record, Access access,
                              std::vector<std::byte>& buffer) {
  Check(record >= first_record_ && record < end_record_,
        "the record is in the shard");
  if (access == Access::kApart) {
    CheckNotLost(record);
    Cursor cursor(open_(), first_record_);
    return Unpack(cursor, record, kNothing, buffer);
  }
  return ReadInOrder(record, buffer);
}

std::size_t PackedShard::ReadInOrder(std::int64_t record,
                                     std::vector<std::byte>& buffer) {
  // First without the lock, so that a kept record need not wait for threads
  // that unpack.
  if (auto kept = passed_.Take(record)) {
    buffer = *std::move(kept);
    return buffer.size();
  }
  const std::lock_guard lock(mutex_);
  if (auto kept = passed_.Take(record)) {
    buffer = *std::move(kept);
    return buffer.size();
  }
  CheckNotLost(record);
  std::unique_ptr<Cursor>& cursor = CursorFor(record);
  const bool is_new = cursor->next() == first_record_;
  try {
    const std::size_t bytes =
        Unpack(*cursor, record, is_new ? record - near_records_ : first_record_,
               buffer);
    if (cursor->next() == end_record_) {
      cursor.reset();
    }
    return bytes;
  } catch (...) {
    cursor.reset();  // Its position is unknown after an error.
    throw;
  }
}

void PackedShard::Close() {
  const std::unique_lock lock(mutex_, std::try_to_lock);
  if (lock) {
    cursors_ = {};
  }
}

// Returns the nearest cursor that has not passed the record, else a new one at
// the start of the shard. Moves it to the front of the list.
std::unique_ptr<PackedShard::Cursor>& PackedShard::CursorFor(
    std::int64_t record) {
  const auto place = [&](const std::unique_ptr<Cursor>& cursor) {
    return cursor != nullptr && cursor->next() <= record ? cursor->next() : -1;
  };
  if (place(cursors_[1]) > place(cursors_[0]) || place(cursors_[0]) < 0) {
    std::swap(cursors_[0], cursors_[1]);
  }
  if (place(cursors_[0]) < 0) {
    restarts_ += cursors_[0] != nullptr || cursors_[1] != nullptr ? 1 : 0;
    cursors_[0] = std::make_unique<Cursor>(open_(), first_record_);
  }
  return cursors_[0];
}

// Moves the cursor to the record and copies it. Keeps the records passed on the
// way from keep_from on.
std::size_t PackedShard::Unpack(Cursor& cursor, std::int64_t record,
                                std::int64_t keep_from,
                                std::vector<std::byte>& buffer) {
  try {
    while (cursor.next() < record) {
      const std::int64_t passed = cursor.next();
      const auto frame = cursor.Next(index_.at(passed));
      if (passed >= keep_from) {
        passed_.Keep(passed, frame);
      }
    }
    const auto frame = cursor.Next(index_.at(record));
    if (buffer.size() < frame.size()) {
      buffer.resize(frame.size());
    }
    std::copy(frame.begin(), frame.end(), buffer.begin());
    return frame.size();
  } catch (const DataError& error) {
    Lose(cursor.next(), error.reason(), record);
  } catch (const IoError& error) {
    if (!IsMediumError(error)) {
      throw;
    }
    Lose(cursor.next(),
         "cannot read: " + std::generic_category().message(error.errno_value()),
         record);
  }
}

void PackedShard::CheckNotLost(std::int64_t record) const {
  const std::lock_guard lock(loss_mutex_);
  if (!loss_ || record < loss_->first) {
    return;
  }
  const RecordLocation location = index_.at(record);
  throw DataError({PathForMessages(index_.shard_of(location)), location.number,
                   location.offset},
                  loss_->reason + "; the records from " +
                      std::to_string(loss_->first - first_record_) +
                      " on are lost");
}

void PackedShard::Lose(std::int64_t first, const std::string& reason,
                       std::int64_t record) {
  {
    const std::lock_guard lock(loss_mutex_);
    if (!loss_ || first < loss_->first) {
      loss_ = {first, reason};
    }
  }
  CheckNotLost(record);
  std::abort();  // Not reached: records before the first lost one are readable.
}

PackedStore::PackedStore(const RecordIndex& index,
                         const PackedStoreOptions& options, Open open)
    : passed_(options.max_passed_bytes),
      max_open_shards_(options.max_open_shards),
      shards_(index.shards().size()) {
  std::int64_t first = 0;
  for (std::size_t i = 0; i < shards_.size(); ++i) {
    if (index.compression(i) != Compression::kNone) {
      shards_[i] = std::make_unique<PackedShard>(
          index, first, index.shard_size(i), options.near_records, passed_,
          [open, i] { return open(static_cast<std::int32_t>(i)); });
    }
    first += index.shard_size(i);
  }
}

std::size_t PackedStore::Read(std::int64_t record, std::int32_t shard,
                              Access access, std::vector<std::byte>& buffer) {
  if (access == Access::kInOrder) {
    Use(shard);
  }
  return shards_[static_cast<std::size_t>(shard)]->Read(record, access, buffer);
}

std::int64_t PackedStore::restarts() const {
  std::int64_t restarts = 0;
  for (const std::unique_ptr<PackedShard>& shard : shards_) {
    restarts += shard == nullptr ? 0 : shard->restarts();
  }
  return restarts;
}

// Marks the shard as the most recently used, and closes the least recently used
// one if too many are open.
void PackedStore::Use(std::int32_t shard) {
  std::int32_t oldest = shard;
  {
    const std::lock_guard lock(mutex_);
    const auto found = std::find(uses_.begin(), uses_.end(), shard);
    if (found != uses_.end()) {
      uses_.splice(uses_.begin(), uses_, found);
      return;
    }
    uses_.push_front(shard);
    if (uses_.size() > max_open_shards_) {
      oldest = uses_.back();
      uses_.pop_back();
    }
  }
  if (oldest != shard) {
    shards_[static_cast<std::size_t>(oldest)]->Close();
  }
}

}  // namespace infeed

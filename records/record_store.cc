#include "records/record_store.h"

#include <algorithm>
#include <limits>
#include <string>
#include <utility>

#include "records/cloud_settings.h"
#include "records/open_source.h"
#include "records/read_plan.h"
#include "records/tfrecord_format.h"

namespace infeed {
namespace {

// What the index says against what stands at the place.
void CheckLength(std::int64_t indexed, std::int64_t found,
                 const FramePlace& place) {
  if (indexed != found) {
    throw DataError(place.origin(),
                    "the record has " + std::to_string(found) +
                        " bytes, the index says " + std::to_string(indexed) +
                        "; the file changed after it was indexed");
  }
}

}  // namespace

RecordStore::RecordStore(const RecordIndex& index,
                         const RecordStoreOptions& options)
    : index_(index),
      options_(options),
      any_in_cloud_(
          std::any_of(index.shards().begin(), index.shards().end(), IsUrl)) {
  if (options_.max_open_shards == 0) {
    throw UsageError("max_open_shards must be at least 1");
  }
  const bool all_in_cloud =
      std::all_of(index.shards().begin(), index.shards().end(), IsUrl);
  if (all_in_cloud && cloud_settings().cache_folder.empty()) {
    options_.max_open_shards = std::numeric_limits<std::size_t>::max();
  }
}

std::span<const std::byte> RecordStore::Read(
    std::int64_t record, std::vector<std::byte>& buffer) const {
  return ReadPayload(record, buffer).bytes;
}

RecordPayload RecordStore::ReadPayload(std::int64_t record,
                                       std::vector<std::byte>& buffer) const {
  const RecordLocation location = index_.at(record);
  const std::shared_ptr<const ByteSource> source = Open(location.shard);
  const auto length = static_cast<std::size_t>(location.length);
  if (buffer.size() < length + kFrameOverheadBytes) {
    buffer.resize(length + kFrameOverheadBytes);
  }
  const auto wanted = std::span(buffer).first(length + kFrameOverheadBytes);
  const auto frame = wanted.first(source->ReadAt(location.offset, wanted));
  return PayloadOf(frame, location, *source);
}

void RecordStore::WillRead(std::int64_t record) const {
  if (!any_in_cloud_) {
    return;
  }
  const RecordLocation location = index_.at(record);
  if (!IsUrl(index_.shards()[static_cast<std::size_t>(location.shard)])) {
    return;
  }
  try {
    Open(location.shard)
        ->WillRead(location.offset, location.length + static_cast<std::int64_t>(
                                                          kFrameOverheadBytes));
  } catch (const Error&) {  // Read() opens the shard again, and says it.
  }
}

void RecordStore::ReadMany(std::span<const std::int64_t> records,
                           const OnRecord& on_record,
                           const OnBadRecord& on_bad) const {
  std::vector<RecordLocation> locations;
  locations.reserve(records.size());
  for (const std::int64_t record : records) {
    locations.push_back(index_.at(record));
  }
  std::vector<std::byte> buffer;
  for (const PlannedRead& read : PlanReads(locations)) {
    const std::shared_ptr<const ByteSource> source = Open(read.shard);
    buffer.resize(
        std::max(buffer.size(), static_cast<std::size_t>(read.bytes)));
    const auto wanted =
        std::span(buffer).first(static_cast<std::size_t>(read.bytes));
    const auto bytes = wanted.first(source->ReadAt(read.offset, wanted));
    for (const std::size_t place : read.records) {
      const RecordLocation& location = locations[place];
      const auto begin =
          std::min(bytes.size(),
                   static_cast<std::size_t>(location.offset - read.offset));
      const auto frame = bytes.subspan(begin);
      std::span<const std::byte> payload;
      try {
        payload =
            PayloadOf(
                frame.first(std::min(frame.size(),
                                     static_cast<std::size_t>(location.length) +
                                         kFrameOverheadBytes)),
                location, *source)
                .bytes;
      } catch (const DataError& error) {
        on_bad(place, error);
        continue;
      }
      on_record(place, payload);
    }
  }
}

// Checks the bytes that stand where a record should.
RecordPayload RecordStore::PayloadOf(std::span<const std::byte> frame,
                                     const RecordLocation& location,
                                     const ByteSource& source) const {
  const FramePlace place = {
      .path = source.path(),
      .record = location.number,
      .offset = location.offset,
      .file_size =
          std::max(source.size(),
                   location.offset + static_cast<std::int64_t>(frame.size())),
      .max_record_bytes = std::numeric_limits<std::int64_t>::max()};
  const auto header = frame.first(std::min(frame.size(), kFrameHeaderBytes));
  CheckLength(location.length, DecodeFrameHeader(header, place), place);
  const auto body = frame.subspan(kFrameHeaderBytes);
  CheckFrameIsWhole(body, location.length, place);
  RecordPayload payload = {
      .bytes = body.first(static_cast<std::size_t>(location.length))};
  if (options_.verify_checksums) {
    payload.crc32c = CheckPayload(body, place);
  }
  return payload;
}

DataError::Origin RecordStore::OriginOf(std::int64_t record) const {
  const RecordLocation location = index_.at(record);
  return {index_.shards()[static_cast<std::size_t>(location.shard)],
          location.number, location.offset};
}

std::shared_ptr<const ByteSource> RecordStore::Open(std::int32_t shard) const {
  {
    const std::lock_guard lock(mutex_);
    if (const auto found = open_.find(shard); found != open_.end()) {
      uses_.splice(uses_.begin(), uses_, found->second.use);
      return found->second.source;
    }
  }
  // Opened without the lock: others go on reading meanwhile. Two threads may
  // open the same shard at once; the first to come back keeps its own.
  std::shared_ptr<const ByteSource> source =
      OpenSource(index_.shards()[static_cast<std::size_t>(shard)]);
  const std::lock_guard lock(mutex_);
  const auto [place, is_new] = open_.try_emplace(shard);
  if (!is_new) {
    return place->second.source;
  }
  uses_.push_front(shard);
  place->second = {.source = source, .use = uses_.begin()};
  if (open_.size() > options_.max_open_shards) {
    open_.erase(uses_.back());  // Closed when its last reader is done.
    uses_.pop_back();
  }
  return source;
}

}  // namespace infeed

#include "records/store/record_store.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <system_error>
#include <tuple>
#include <utility>

#include "base/rounding.h"
#include "records/bytes/crc32c.h"
#include "records/files/open_source.h"
#include "records/store/image_record.h"
#include "records/store/open_shards.h"
#include "records/tfrecord/format.h"

namespace infeed {
namespace {

// Whether a record may join the read before it, which begins no later.
bool Joins(const PlannedRead& read, const RecordLocation& location,
           const ReadPlanOptions& options) {
  return read.shard == location.shard &&
         location.offset - (read.offset + read.bytes) <=
             options.max_hole_bytes &&
         location.end() - read.offset <= options.max_read_bytes;
}

// Throws DataError if the record's length differs from the index.
void CheckLength(std::int64_t indexed, std::int64_t found,
                 const FramePlace& place) {
  if (indexed != found) {
    throw DataError(place.origin(),
                    "the record has " + std::to_string(found) +
                        " bytes, the index says " + std::to_string(indexed) +
                        "; the file changed after it was indexed");
  }
}

// Reads a record's frame. A read error on the medium (EIO) makes this one
// record bad; other records stay readable.
std::size_t ReadFrame(const ByteSource& source, const RecordLocation& location,
                      std::span<std::byte> frame) {
  try {
    return source.ReadAt(location.offset, frame);
  } catch (const IoError& error) {
    if (!IsMediumError(error)) {
      throw;
    }
    throw DataError(
        {source.path(), location.number, location.offset},
        "cannot read: " + std::generic_category().message(error.errno_value()));
  }
}

std::size_t ExtentOf(const RecordLocation& location) {
  return static_cast<std::size_t>(location.end() - location.offset);
}

// Returns the record's bytes, or the part of them that was read, within the
// bytes of a read that covers it.
std::span<const std::byte> FrameWithin(std::span<const std::byte> bytes,
                                       const PlannedRead& read,
                                       const RecordLocation& location) {
  const auto frame = bytes.subspan(std::min(
      bytes.size(), static_cast<std::size_t>(location.offset - read.offset)));
  return frame.first(std::min(frame.size(), ExtentOf(location)));
}

// Makes room for a record. Drops the old contents first, so that the old and
// the new memory never exist at once, and allocates no more than needed.
void Grow(std::vector<std::byte>& buffer, std::size_t bytes) {
  constexpr std::size_t kUnit = std::size_t{16} << 10;
  if (buffer.size() < bytes) {
    buffer = {};
    buffer.resize(RoundUp(bytes, kUnit));
  }
}

// Memory that is not cleared first.
class Scratch {
 public:
  explicit Scratch(std::size_t bytes)
      : data_(new std::byte[bytes]), size_(bytes) {}
  [[nodiscard]] std::span<std::byte> bytes() const {
    return {data_.get(), size_};
  }

 private:
  std::unique_ptr<std::byte[]> data_;
  std::size_t size_;
};

}  // namespace

std::vector<PlannedRead> PlanReads(std::span<const RecordLocation> locations,
                                   const ReadPlanOptions& options) {
  std::vector<std::size_t> order(locations.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return std::tuple(locations[a].shard, locations[a].offset, a) <
           std::tuple(locations[b].shard, locations[b].offset, b);
  });
  std::vector<PlannedRead> reads;
  for (const std::size_t record : order) {
    const RecordLocation& location = locations[record];
    if (reads.empty() || !Joins(reads.back(), location, options)) {
      reads.push_back({location.shard, location.offset, 0, {}});
    }
    PlannedRead& read = reads.back();
    read.bytes = std::max(read.bytes, location.end() - read.offset);
    if (options.names_records) {
      read.records.push_back(record);
    }
  }
  return reads;
}

RecordStore::RecordStore(const RecordIndex& index,
                         const RecordStoreOptions& options)
    : index_(index),
      options_(options),
      open_(std::make_unique<OpenShards>(index, options.max_open_shards)),
      mapped_(options.map_files && !index.is_of_images()
                  ? std::make_unique<MappedShards>(index)
                  : nullptr),
      packed_(index.any_compressed()
                  ? std::make_unique<PackedStore>(index, options.packed,
                                                  [this](std::int32_t shard) {
                                                    return open_->Open(shard);
                                                  })
                  : nullptr) {}

RecordStore::~RecordStore() = default;

std::span<const std::byte> RecordStore::Read(
    std::int64_t record, std::vector<std::byte>& buffer) const {
  return ReadPayload(record, buffer).bytes;
}

RecordPayload RecordStore::ReadPayload(std::int64_t record,
                                       std::vector<std::byte>& buffer,
                                       Access access,
                                       Verification verification) const {
  RecordPayload payload = ReadUnverified(record, buffer, access);
  if (verification == Verification::kAtOnce) {
    try {
      Verify(record, payload);
    } catch (const DataError&) {
      if (payload.IsWhole()) {
        throw;
      }
      // A mapped file lost bytes. From now on it is read.
      return ReadPayload(record, buffer, access, verification);
    }
  }
  return payload;
}

void RecordStore::Verify(std::int64_t record, RecordPayload& payload,
                         std::optional<std::uint32_t> computed) const {
  if (const auto stored =
          std::exchange(payload.unverified_crc32c, std::nullopt)) {
    const std::uint32_t crc = computed ? *computed : Crc32c(payload.bytes);
    if (crc != *stored) {
      throw WrongChecksum(OriginOf(record), *stored, crc);
    }
    payload.crc32c = crc;
  }
}

RecordPayload RecordStore::ReadUnverified(std::int64_t record,
                                          std::vector<std::byte>& buffer,
                                          Access access) const {
  const RecordLocation location = index_.at(record);
  if (index_.is_of_images()) {
    return ReadImageRecord(index_, record, buffer);
  }
  if (IsPacked(location.shard)) {
    return ReadPacked(record, location, access, buffer);
  }
  RecordPayload mapped;
  if (FindMapped(location, mapped)) {
    return mapped;
  }
  const std::shared_ptr<const ByteSource> source = open_->Open(location.shard);
  if (!index_.holds_examples(static_cast<std::size_t>(location.shard))) {
    const Scratch extent(ExtentOf(location));
    return MakeExample(
        record,
        extent.bytes().first(ReadFrame(*source, location, extent.bytes())),
        buffer);
  }
  Grow(buffer, ExtentOf(location));
  const auto wanted = std::span(buffer).first(ExtentOf(location));
  return CheckFrame(wanted.first(ReadFrame(*source, location, wanted)),
                    location, {source->path(), source->size()});
}

const MappedFile* RecordStore::MappingOf(std::int32_t shard) const {
  return mapped_ == nullptr ? nullptr : mapped_->Find(shard);
}

bool RecordStore::FindMapped(const RecordLocation& location,
                             RecordPayload& payload) const {
  const MappedFile* const file = MappingOf(location.shard);
  if (file == nullptr || location.end() > std::ssize(file->bytes())) {
    return false;
  }
  const auto frame = file->bytes().subspan(
      static_cast<std::size_t>(location.offset), ExtentOf(location));
  try {
    payload =
        CheckFrame(frame, location,
                   {index_.shard_of(location), std::ssize(file->bytes())});
    payload.mapped = file;
    return true;
  } catch (const DataError&) {
    if (file->IsWhole(frame)) {
      throw;
    }
    return false;
  }
}

void RecordStore::WillReadNext(std::int64_t record) const {
  constexpr std::int64_t kLine = 64;
  constexpr std::int64_t kLines = 16;
  if (mapped_ == nullptr) {
    return;
  }
  const RecordLocation location = index_.at(record);
  const MappedFile* const file =
      IsPacked(location.shard) ? nullptr : MappingOf(location.shard);
  if (file == nullptr) {
    return;
  }
  const std::span<const std::byte> bytes = file->bytes();
  const std::int64_t end =
      std::min(location.end(), static_cast<std::int64_t>(bytes.size()));
  if (location.offset >= end) {
    return;
  }
  // The record's checksum is at its end.
  __builtin_prefetch(&bytes[static_cast<std::size_t>(end - 1)]);
  const std::int64_t begun = std::min(end, location.offset + kLines * kLine);
  for (std::int64_t at = location.offset; at < begun; at += kLine) {
    __builtin_prefetch(&bytes[static_cast<std::size_t>(at)]);
  }
}

RecordPayload RecordStore::MakeExample(std::int64_t record,
                                       std::span<const std::byte> extent,
                                       std::vector<std::byte>& buffer) const {
  try {
    return MakeArchiveExample(index_, record, extent, options_.image_key,
                              buffer);
  } catch (const DataError& error) {
    throw error.At(OriginOf(record));
  }
}

bool RecordStore::IsPacked(std::int32_t shard) const {
  return index_.compression(static_cast<std::size_t>(shard)) !=
         Compression::kNone;
}

RecordPayload RecordStore::ReadPacked(std::int64_t record,
                                      const RecordLocation& location,
                                      Access access,
                                      std::vector<std::byte>& buffer) const {
  const std::size_t bytes =
      packed_->Read(record, location.shard, access, buffer);
  if (!index_.holds_examples(static_cast<std::size_t>(location.shard))) {
    const std::vector<std::byte> extent(
        buffer.begin(), buffer.begin() + static_cast<std::ptrdiff_t>(bytes));
    return MakeExample(record, extent, buffer);
  }
  return CheckFrame(std::span(buffer).first(bytes), location,
                    {PathForMessages(index_.shard_of(location)),
                     std::numeric_limits<std::int64_t>::max()});
}

std::int64_t RecordStore::packed_restarts() const {
  return packed_ == nullptr ? 0 : packed_->restarts();
}

void RecordStore::WillRead(std::span<const std::int64_t> records) const {
  if (mapped_ != nullptr) {
    mapped_->BeginRound();
  }
  std::vector<RecordLocation> in_files;
  in_files.reserve(records.size());
  for (const std::int64_t record : records) {
    const RecordLocation location = index_.at(record);
    if (IsPacked(location.shard) ||
        (mapped_ != nullptr && mapped_->IsResident(location))) {
      continue;
    }
    if (IsUrl(index_.shard_of(location))) {
      // Bytes from the cloud are kept in memory, so gaps between records are
      // not fetched; the first requested record is fetched first. An image is
      // opened anew when it is read.
      if (!index_.is_of_images()) {
        Announce(location.shard, location.offset,
                 location.end() - location.offset);
      }
    } else {
      in_files.push_back(location);
    }
  }
  for (const PlannedRead& read :
       PlanReads(in_files, {.names_records = false})) {
    Announce(read.shard, read.offset, read.bytes);
  }
}

void RecordStore::Announce(std::int32_t shard, std::int64_t offset,
                           std::int64_t bytes) const {
  try {
    open_->Open(shard)->WillRead(offset, bytes);
  } catch (const Error&) {  // Read() opens the shard again and reports it.
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
  const auto give = [&](std::size_t place, const auto& payload_of) {
    std::span<const std::byte> payload;
    try {
      payload = payload_of();
    } catch (const DataError& error) {
      return on_bad(place, error);
    }
    on_record(place, payload);
  };
  for (const PlannedRead& read : PlanReads(locations)) {
    const std::shared_ptr<const ByteSource> source = open_->Open(read.shard);
    const auto bytes = ReadTogether(*source, read, buffer);
    for (const std::size_t place : read.records) {
      give(place, [&] {
        if (!bytes) {
          return Read(records[place], buffer);
        }
        RecordPayload payload =
            CheckFrame(FrameWithin(*bytes, read, locations[place]),
                       locations[place], {source->path(), source->size()});
        Verify(records[place], payload);
        return payload.bytes;
      });
    }
  }
}

// Returns the bytes of a planned read; nullopt if its records must be read one
// by one.
std::optional<std::span<const std::byte>> RecordStore::ReadTogether(
    const ByteSource& source, const PlannedRead& read,
    std::vector<std::byte>& buffer) const {
  if (IsPacked(read.shard) ||
      !index_.holds_examples(static_cast<std::size_t>(read.shard))) {
    return std::nullopt;
  }
  const auto bytes = static_cast<std::size_t>(read.bytes);
  buffer.resize(std::max(buffer.size(), bytes));
  try {
    const auto wanted = std::span(buffer).first(bytes);
    return wanted.first(source.ReadAt(read.offset, wanted));
  } catch (const IoError& error) {
    if (IsMediumError(error)) {
      return std::nullopt;
    }
    throw;
  }
}

// Checks a record's frame and returns its payload, which is to be verified.
RecordPayload RecordStore::CheckFrame(std::span<const std::byte> frame,
                                      const RecordLocation& location,
                                      const Stream& stream) const {
  const FramePlace place = {
      .path = stream.path,
      .record = location.number,
      .offset = location.offset,
      .file_size =
          std::max(stream.bytes,
                   location.offset + static_cast<std::int64_t>(frame.size())),
      .max_record_bytes = std::numeric_limits<std::int64_t>::max()};
  const auto header = frame.first(std::min(frame.size(), kFrameHeaderBytes));
  CheckLength(location.length, DecodeFrameHeader(header, place), place);
  const auto body = frame.subspan(kFrameHeaderBytes);
  CheckFrameIsWhole(body, location.length, place);
  RecordPayload payload = {
      .bytes = body.first(static_cast<std::size_t>(location.length)),
      .stored_crc = StoredChecksum(body)};
  if (options_.verify_checksums) {
    payload.unverified_crc32c = payload.stored_crc;
  }
  return payload;
}

DataError::Origin RecordStore::OriginOf(std::int64_t record) const {
  const RecordLocation location = index_.at(record);
  const std::string shard = PathForMessages(index_.shard_of(location));
  return index_.is_of_images()
             ? DataError::Origin{shard, -1, -1}
             : DataError::Origin{shard, location.number, location.offset};
}

}  // namespace infeed

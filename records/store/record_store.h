#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "records/bytes/byte_source.h"
#include "records/example/imagenet_example.h"
#include "records/example/record_payload.h"
#include "records/store/packed_shard.h"
#include "records/store/record_index.h"

namespace infeed {

struct ReadPlanOptions {
  // The largest gap between two records that is read along instead of splitting
  // the read.
  std::int64_t max_hole_bytes = std::int64_t{64} << 10;
  // Whether PlannedRead::records is filled.
  bool names_records = true;
  // Limit of one read, unless a single record is longer.
  std::int64_t max_read_bytes = std::int64_t{8} << 20;
};

// One positioned read that covers several records of a shard.
struct PlannedRead {
  std::int32_t shard = 0;
  std::int64_t offset = 0;
  std::int64_t bytes = 0;
  // Indices of the locations that it covers, in the order of their offsets.
  std::vector<std::size_t> records;
};

// Joins records that lie near each other into reads, ordered by shard and
// offset. A record may be listed more than once.
[[nodiscard]] std::vector<PlannedRead> PlanReads(
    std::span<const RecordLocation> locations,
    const ReadPlanOptions& options = {});

class MappedFile;
class MappedShards;
class OpenShards;

// When a payload's checksum is verified.
enum class Verification { kAtOnce, kLater };

struct RecordStoreOptions {
  // Limit of shards kept open, besides those being read; at least 1. It does
  // not apply if all shards are objects without a local copy (open_shards.h).
  std::size_t max_open_shards = 256;
  bool verify_checksums = true;
  // Map uncompressed TFRecords of files, in place of reading them.
  bool map_files = false;
  PackedStoreOptions packed = {};  // for compressed shards
  // For tars: image/encoded, or the ending of the image's member
  // (archives/tar_example.h).
  std::string image_key{kImageKey};
};

// Reads any record of an indexed set of shards: by one positioned read, or by
// unpacking if the shard is compressed (packed_shard.h). The records of image
// files, tars and zips are tf.train.Examples that it makes (image_record.h); an
// unreadable image file is then a DataError.
//
// The index must outlive the store. Thread-safe. Throws DataError, with file,
// record and byte offset, when the frame at that place fails a checksum, has
// another length than the index says, or is cut short; IoError when a shard
// cannot be read.
class RecordStore {
 public:
  explicit RecordStore(const RecordIndex& index,
                       const RecordStoreOptions& options = {});
  ~RecordStore();
  RecordStore(const RecordStore&) = delete;
  RecordStore& operator=(const RecordStore&) = delete;

  // Reads a record into buffer, which grows as needed and should be reused, and
  // returns its payload, a view into buffer, or into a mapped file: this view
  // is valid as long as the store, and RecordPayload::IsWhole() says whether
  // its bytes were there while they were used. Requires: 0 <= record <
  // index.size().
  [[nodiscard]] std::span<const std::byte> Read(
      std::int64_t record, std::vector<std::byte>& buffer) const;
  // Read() with the payload's checksum. `access` is the access pattern. With
  // kLater the payload is not verified yet: pass it to Verify().
  [[nodiscard]] RecordPayload ReadPayload(
      std::int64_t record, std::vector<std::byte>& buffer,
      Access access = Access::kInOrder,
      Verification verification = Verification::kAtOnce) const;

  // Verifies a payload that is still to be verified; throws DataError as Read()
  // does. computed: the checksum of its bytes, if the caller has it.
  void Verify(std::int64_t record, RecordPayload& payload,
              std::optional<std::uint32_t> computed = {}) const;

  // A hint that these records will be read soon. Starts fetching them, records
  // that lie near each other together (PlanReads()): from disk into the page
  // cache, or from the cloud within the limits of cloud_settings(). Compressed
  // shards read ahead by themselves. Never fails: errors are thrown when a
  // record is read.
  void WillRead(std::span<const std::int64_t> records) const;

  // A hint that a record will be read next: loads its first bytes into the
  // processor's caches if its file is mapped.
  void WillReadNext(std::int64_t record) const;

  // Called by ReadMany() for each record: place is the record's index in the
  // list. The payload is valid until the function returns.
  using OnRecord = std::function<void(std::size_t place,
                                      std::span<const std::byte> payload)>;
  // Called for each bad record; the others are still delivered.
  using OnBadRecord =
      std::function<void(std::size_t place, const DataError& error)>;

  // Reads several records, those near each other with one read (PlanReads()),
  // and delivers them in the order of their places on disk. Takes memory for
  // one such read. Requires: all records are in the index.
  void ReadMany(std::span<const std::int64_t> records,
                const OnRecord& on_record, const OnBadRecord& on_bad) const;

  // PackedStore::restarts(); 0 without compressed shards.
  [[nodiscard]] std::int64_t packed_restarts() const;

  // The place of a record, for messages.
  [[nodiscard]] DataError::Origin OriginOf(std::int64_t record) const;

 private:
  // The byte stream that holds a frame: its name for messages, and its length.
  struct Stream {
    std::string_view path;
    std::int64_t bytes = 0;
  };
  // The mapping of a shard that is not compressed; null: none.
  [[nodiscard]] const MappedFile* MappingOf(std::int32_t shard) const;
  // Finds the record in a mapping. Returns false if it must be read.
  bool FindMapped(const RecordLocation& location, RecordPayload& payload) const;
  RecordPayload ReadUnverified(std::int64_t record,
                               std::vector<std::byte>& buffer,
                               Access access) const;
  void Announce(std::int32_t shard, std::int64_t offset,
                std::int64_t bytes) const;
  RecordPayload CheckFrame(std::span<const std::byte> frame,
                           const RecordLocation& location,
                           const Stream& stream) const;
  std::optional<std::span<const std::byte>> ReadTogether(
      const ByteSource& source, const PlannedRead& read,
      std::vector<std::byte>& buffer) const;
  RecordPayload MakeExample(std::int64_t record,
                            std::span<const std::byte> extent,
                            std::vector<std::byte>& buffer) const;
  RecordPayload ReadPacked(std::int64_t record, const RecordLocation& location,
                           Access access, std::vector<std::byte>& buffer) const;
  [[nodiscard]] bool IsPacked(std::int32_t shard) const;

  const RecordIndex& index_;
  const RecordStoreOptions options_;
  const std::unique_ptr<OpenShards> open_;
  const std::unique_ptr<MappedShards> mapped_;  // null: files are read
  const std::unique_ptr<PackedStore> packed_;   // null: no shard is compressed
};

}  // namespace infeed

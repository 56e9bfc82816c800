#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "records/bytes/byte_source.h"
#include "records/example/imagenet_example.h"
#include "records/store/record_cursor.h"

// One pass over the records of many shards by several threads: shared by
// verify, stats and extract. Threads share shards, so that one big shard keeps
// all of them busy: a thread takes a shard, reads some records, returns the
// shard, and then processes these records.
namespace infeed {

// Processes a record in one of the pass's threads, which are numbered from 0.
// shard: an index into the paths. Throws DataError, without an origin, for a
// bad record; may be called again after that.
using RecordVisit = std::function<void(std::size_t thread, std::size_t shard,
                                       const Record& record)>;

struct DamagedRecord {
  std::int64_t record = -1;  // from 0 within the shard
  std::int64_t offset = -1;  // of the frame's first byte
  std::string reason;

  friend auto operator<=>(const DamagedRecord&,
                          const DamagedRecord&) = default;  // in file order
};

struct ShardPass {
  std::size_t shard = 0;     // index into the paths
  std::int64_t records = 0;  // bad ones included
  std::int64_t payload_bytes = 0;
  std::vector<DamagedRecord> bad;  // in file order
};

// Opens the shard with an index into the paths.
using ShardOpener = std::function<std::unique_ptr<ByteSource>(std::size_t)>;

struct RecordPassOptions {
  std::int64_t limit = -1;           // records to visit from the start; -1: all
  ShardOpener open = {};             // OpenSource() when empty
  std::string image_key{kImageKey};  // RecordStoreOptions::image_key
  // Called with the number of records that were just visited.
  std::function<void(std::int64_t records)> visited = {};
  // Called when a shard was read to its end, before it is closed; may be called
  // for several shards at once.
  std::function<void(std::size_t shard, const RecordCursor&)> read = {};
};

// Calls `visit` for each record, in one of the threads; any thread may get any
// record. Calls `finished`, from one thread at a time and in the order of the
// paths, when a shard is done. A record that the reader or `visit` finds bad is
// noted, and the pass continues. Throws other exceptions of sources and
// callbacks. Requires: threads > 0.
void PassOverRecords(const std::vector<std::string>& paths, std::size_t threads,
                     const RecordVisit& visit, const RecordPassOptions& options,
                     const std::function<void(ShardPass)>& finished);

}  // namespace infeed

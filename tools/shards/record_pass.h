#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "records/bytes/byte_source.h"
#include "records/tfrecord/reader.h"

// One pass over the records of many shards by several threads: what verify,
// stats and extract have in common. Threads share shards, so that one big
// shard keeps all of them busy: a thread takes a shard, reads some records,
// gives the shard back, and looks at what it read.
namespace infeed {

// Looks at records. One for each thread, used by that thread alone.
class RecordVisitor {
 public:
  virtual ~RecordVisitor() = default;
  // `shard` is an index into the paths. Throws DataError, without an origin,
  // for a bad record; the visitor must be usable after that.
  virtual void Visit(std::size_t shard, const Record& record) = 0;
};

using RecordVisitors = std::vector<std::unique_ptr<RecordVisitor>>;

struct DamagedRecord {
  std::int64_t record = -1;  // from 0 within the shard
  std::int64_t offset = -1;  // of the frame's first byte
  std::string reason;
};

// What a pass found in one shard.
struct ShardPass {
  std::size_t shard = 0;     // index into the paths
  std::int64_t records = 0;  // bad ones included
  std::int64_t payload_bytes = 0;
  std::vector<DamagedRecord> bad;  // in the order of the file
};

struct RecordPassOptions {
  std::int64_t limit = -1;  // records to look at, from the first; -1: all
  // Opens a shard; OpenSource() when empty.
  std::function<std::unique_ptr<ByteSource>(std::size_t shard)> open = {};
  // Called with a number of records that were just looked at.
  std::function<void(std::int64_t records)> visited = {};
  // Called when a shard was read to its end, before it is closed; for several
  // shards at once.
  std::function<void(std::size_t shard, const TfrecordReader&)> read = {};
};

// Shows each record to one of the visitors, in a thread for each of them, and
// calls `finished`, from one thread at a time and in the order of the paths,
// when a shard is done. Which visitor sees a record is left open. A record that
// the reader or the visitor finds bad is noted, and the pass goes on. Throws
// what else a visitor, a source or a callback throws. Requires: there is a
// visitor.
void PassOverRecords(const std::vector<std::string>& paths,
                     const RecordVisitors& visitors,
                     const RecordPassOptions& options,
                     const std::function<void(ShardPass)>& finished);

// The number of threads that a --threads flag means: 0 is one for each core.
[[nodiscard]] std::size_t ThreadCount(int threads);

}  // namespace infeed

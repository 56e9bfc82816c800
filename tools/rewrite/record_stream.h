#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "records/bytes/byte_source.h"
#include "records/tfrecord/reader.h"
#include "tools/rewrite/bad_records.h"
#include "tools/shards/progress.h"

namespace infeed {

// Reads the records of several shards, compressed or not, as one sequence. Bad
// records go to a BadRecords; if it leaves them out, reading continues at the
// next good record.
//
// The constructor's arguments must outlive it. A record is valid until the
// next call. One thread at a time. Throws IoError, and what BadRecords throws.
class RecordStream {
 public:
  using Open = std::function<std::unique_ptr<ByteSource>(std::size_t shard)>;

  // open: opens the shard of a number below `shards`.
  RecordStream(std::size_t shards, Open open, BadRecords& bad);

  // The next record, or nullopt at the end of the last shard.
  [[nodiscard]] std::optional<Record> Next();
  // The shard of the last record.
  [[nodiscard]] std::size_t shard() const { return shard_; }

 private:
  std::size_t shards_;
  Open open_;
  BadRecords& bad_;
  std::size_t shard_ = 0;
  std::unique_ptr<TfrecordReader> reader_;
};

// Returns a function that opens shards so that `progress` shows how far they
// are read.
[[nodiscard]] RecordStream::Open OpenerOf(ShardProgress& progress);

}  // namespace infeed

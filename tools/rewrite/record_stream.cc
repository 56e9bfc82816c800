#include "tools/rewrite/record_stream.h"

#include <utility>

#include "base/error.h"

namespace infeed {

RecordStream::RecordStream(std::size_t shards, Open open, BadRecords& bad)
    : shards_(shards), open_(std::move(open)), bad_(bad) {}

std::optional<Record> RecordStream::Next() {
  while (shard_ < shards_) {
    if (!reader_) {
      reader_ = std::make_unique<TfrecordReader>(
          open_(shard_), TfrecordReaderOptions{.resynchronise = bad_.skips()});
    }
    try {
      if (const std::optional<Record> record = reader_->Next()) {
        return record;
      }
      reader_.reset();
      ++shard_;
    } catch (const DataError& error) {
      bad_.Take(error);
    }
  }
  return std::nullopt;
}

RecordStream::Open OpenerOf(ShardProgress& progress) {
  return [&progress](std::size_t shard) { return progress.Open(shard); };
}

}  // namespace infeed

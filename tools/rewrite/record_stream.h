#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

#include "base/error.h"
#include "records/tfrecord/reader.h"
#include "tools/shards/record_pass.h"

namespace infeed {

// The policy for bad records while good ones are copied: the first one ends the
// work with advice, or they are left out and counted, and the first few are
// named on stderr. Thread-safe.
class BadRecords {
 public:
  enum class Names { kPrinted, kSilent };

  explicit BadRecords(bool skips, Names names = Names::kPrinted)
      : skips_(skips), names_(names) {}

  // Throws the error with advice added, or counts it.
  void Take(const DataError& error);

  [[nodiscard]] bool skips() const { return skips_; }
  [[nodiscard]] std::int64_t count() const { return count_; }

 private:
  const bool skips_;
  const Names names_;
  std::atomic<std::int64_t> count_ = 0;
};

// Reads the records of several shards, compressed or not, as one sequence. Bad
// records go to `bad`; if it leaves them out, reading continues at the next
// good record.
//
// The constructor's arguments must outlive it. A record is valid until the
// next call. One thread at a time. Throws IoError, and what BadRecords throws.
class RecordStream {
 public:
  // open: opens the shard of a number below `shards`.
  RecordStream(std::size_t shards, ShardOpener open, BadRecords& bad);

  // The next record, or nullopt at the end of the last shard.
  [[nodiscard]] std::optional<Record> Next();
  // The shard of the last record.
  [[nodiscard]] std::size_t shard() const { return shard_; }

 private:
  std::size_t shards_;
  ShardOpener open_;
  BadRecords& bad_;
  std::size_t shard_ = 0;
  std::unique_ptr<TfrecordReader> reader_;
};

}  // namespace infeed

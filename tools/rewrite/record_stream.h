#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "records/store/record_index.h"
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

class StagedFolder;

// The records of some shards to be rewritten: their number and lengths, and, if
// the shards allow random access, their index.
//
// Const members may be called from several threads at once. Throws IoError, and
// DataError for a broken frame unless bad records are left out.
class RecordSequence {
 public:
  struct Options {
    bool any_order = false;  // whether index() is needed
    bool skip_bad = false;
    // Opens a shard for sequential reading.
    ShardOpener open;
    // Called for each record read sequentially.
    std::function<void()> on_record;
    // For uncompressed copies of shards without an index; may be null if
    // any_order is false. Must outlive the sequence.
    const StagedFolder* folder = nullptr;
    std::string scratch_name;  // of these copies
  };

  // Reads or copies compressed shards completely, and with skip_bad damaged
  // shards too.
  RecordSequence(std::vector<std::string> shards, const Options& options);

  [[nodiscard]] std::int64_t size() const {
    return index_ ? index_->size() : std::ssize(lengths_);
  }
  // A record's bytes with its frame. Requires: the record exists.
  [[nodiscard]] std::int64_t frame_bytes(std::int64_t record) const;
  // Null: the shards can only be read in order.
  [[nodiscard]] const RecordIndex* index() const {
    return index_ ? &*index_ : nullptr;
  }
  // The shards to read, copies among them.
  [[nodiscard]] const std::vector<std::string>& shards() const {
    return shards_;
  }
  // The number of bad records left out of the copies.
  [[nodiscard]] std::int64_t left_out() const { return left_out_; }

 private:
  void Copy(std::size_t shard, const Options& options);
  void ReadLengths(const Options& options);

  std::vector<std::string> shards_;
  std::optional<RecordIndex> index_;
  std::vector<std::int64_t> lengths_;  // without an index
  std::int64_t left_out_ = 0;
};

}  // namespace infeed

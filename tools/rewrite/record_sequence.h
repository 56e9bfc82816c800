#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "records/store/record_index.h"
#include "tools/rewrite/record_stream.h"

namespace infeed {

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

  [[nodiscard]] std::int64_t size() const;
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

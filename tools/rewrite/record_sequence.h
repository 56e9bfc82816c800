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

// The records of some shards before they are written anew: how many and how
// long they are, and, where the shards can be read at any place, their index.
//
// Const members may be called from several threads at once. Throws IoError, and
// DataError for a broken frame that is not left out.
class RecordSequence {
 public:
  struct Options {
    bool any_order = false;  // whether index() is needed
    bool skip_bad = false;
    // Opens a shard that is read through.
    RecordStream::Open open;
    // Called for each record of those.
    std::function<void()> on_record;
    // For plain copies of what has no index; may be null where any_order is
    // not set. Must outlive the sequence.
    const StagedFolder* folder = nullptr;
    std::string scratch_name;  // of those copies
  };

  // Packed shards, and with skip_bad damaged ones, are read through, or copied.
  RecordSequence(std::vector<std::string> shards, const Options& options);

  [[nodiscard]] std::int64_t size() const;
  // Of a record with its frame. Requires: it is there.
  [[nodiscard]] std::int64_t frame_bytes(std::int64_t record) const;
  // Null where the shards can only be read in order.
  [[nodiscard]] const RecordIndex* index() const {
    return index_ ? &*index_ : nullptr;
  }
  // Those to read: copies among them.
  [[nodiscard]] const std::vector<std::string>& shards() const {
    return shards_;
  }
  // Bad records that the copies do not have any more.
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

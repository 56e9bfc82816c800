#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "records/bytes/byte_source.h"
#include "records/files/dataset_info.h"
#include "records/tfrecord/compression.h"
#include "records/tfrecord/index_file.h"

// Parts the good records of a damaged shard from the rest.
namespace infeed {

struct RepairOptions {
  // Whether a record must be an Example with the kinds of ImageNet's keys.
  bool parse_examples = true;
  bool decode = false;  // whether its image must decode, too
  Compression compression = Compression::kNone;  // of what is written
};

// Bytes of a shard that are no good record.
struct BadPlace {
  std::int64_t offset = 0;
  std::int64_t bytes = 0;
  std::int64_t bad_file_offset = 0;  // where they stand in the side file
  std::string reason;
  // The records that stood there, where that is known.
  std::optional<RecordRange> lost = {};
};

// Where the parts of a shard go.
struct RepairPaths {
  std::string good;      // the new shard
  std::string bad;       // the bytes that are no good record, as they are
  std::string bad_list;  // where each of those stood and why: JSON
};

struct ShardRepairReport {
  DatasetInfo::Shard shard;   // what was written; without a name
  std::vector<BadPlace> bad;  // in the order of the file

  [[nodiscard]] std::int64_t bad_bytes() const;
  // Records that are known to be lost.
  [[nodiscard]] std::int64_t lost_records() const;
};

// Writes the good records of a shard, in order, to a shard of their own, and
// what is left to a side file, which is made only where there is something
// bad. Together they are the shard's bytes, each once; of a compressed shard
// the unpacked ones, as far as it can be unpacked.
//
// `reading` and `copying` are the same shard, opened twice. on_record is
// called for each good record, and for each bad place. Throws IoError, and
// what on_record throws.
[[nodiscard]] ShardRepairReport RepairShard(
    std::unique_ptr<ByteSource> reading, std::unique_ptr<ByteSource> copying,
    const RepairPaths& paths, const RepairOptions& options,
    const std::function<void()>& on_record);

// The list of bad places, as it is written to `bad_list`.
[[nodiscard]] std::string BadPlacesJson(const std::string& path,
                                        const std::vector<BadPlace>& bad);

}  // namespace infeed

#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "records/bytes/byte_source.h"
#include "records/files/dataset_info.h"
#include "records/tfrecord/compression.h"
#include "records/tfrecord/index_file.h"
#include "tools/cli/report_table.h"
#include "tools/cli/signals.h"
#include "tools/rewrite/writing_options.h"

// Separates the good records of a damaged shard, or of each of a set, from the
// rest.
namespace infeed {

struct RepairOptions {
  // Whether a record must be an Example with ImageNet's types of keys.
  bool parse_examples = true;
  bool decode = false;  // whether its image must decode, too
};

// Bytes of a shard that are not a good record.
struct BadPlace {
  std::int64_t offset = 0;
  std::int64_t bytes = 0;
  std::int64_t bad_file_offset = 0;  // their offset in the side file
  std::string reason;
  // The records that these bytes were, if known.
  std::optional<RecordRange> lost = {};
};
void to_json(nlohmann::ordered_json& json, const BadPlace& place);

// The output files of a shard's repair; the new shard is named as its file.
struct RepairPaths {
  std::string good;      // the new shard
  std::string bad;       // the other bytes, unchanged
  std::string bad_list;  // offset and reason of each bad place: JSON
  Compression compression = Compression::kNone;  // of the new shard
};

struct ShardRepairReport {
  std::string input;          // the path of the damaged shard
  DatasetInfo::Shard shard;   // the new shard
  std::vector<BadPlace> bad;  // in file order

  [[nodiscard]] std::int64_t bad_bytes() const;
  // The number of records known to be lost.
  [[nodiscard]] std::int64_t lost_records() const;
};

// Writes the good records of a shard, in order, to a new shard, and the other
// bytes to a side file, which is created only if there are any. Together they
// contain each of the shard's bytes once; for a compressed shard, each byte
// that can be decompressed.
//
// reading, copying: the same shard, opened twice. on_record: called for each
// good record and each bad place. Throws IoError, and what on_record throws.
[[nodiscard]] ShardRepairReport RepairShard(
    std::unique_ptr<ByteSource> reading, std::unique_ptr<ByteSource> copying,
    const RepairPaths& paths, const RepairOptions& options,
    const std::function<void()>& on_record);

struct SetRepairOptions {
  // Without a target of the report it is .infeed/repair.json in the output
  // folder.
  WritingOptions writing = {};
  RepairOptions repair = {};
};

struct RepairedSet {
  std::string output;  // the folder
  // With the names of the new shards; in a dry run without their contents.
  std::vector<ShardRepairReport> shards;
  bool is_plan = false;  // of a dry run
};

// Writes the good records of each shard to a shard of the same name in the
// folder options.writing.output, the other bytes to its .infeed, and a
// dataset.json if the input has one; all of them or nothing. Throws UsageError,
// IoError.
[[nodiscard]] RepairedSet RepairShards(const std::vector<std::string>& shards,
                                       const SetRepairOptions& options,
                                       const Interruption& interruption);

// A line for each bad place, then the totals; of a dry run, a line for each
// shard.
[[nodiscard]] ReportTable RepairReport(const RepairedSet& set);

}  // namespace infeed

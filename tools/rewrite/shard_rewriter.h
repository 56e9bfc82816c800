#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "records/files/dataset_info.h"
#include "tools/cli/report_table.h"
#include "tools/cli/signals.h"
#include "tools/rewrite/shard_cut.h"
#include "tools/rewrite/writing_options.h"

// Rewrites shards: `records reshard` and `records split` cut a set in another
// way or in another order, `records merge` makes one file of it.
namespace infeed {

enum class RewriteOrder {
  kAsIs,
  kShuffled,  // all records of a prefix permuted by the seed
  kByLabel,   // a shard per class; ShardCut is ignored
};

struct RewriteOptions {
  WritingOptions writing = {};
  ShardCut cut = {};
  RewriteOrder order = RewriteOrder::kAsIs;
  std::uint64_t seed = 0;
  std::int64_t memory_limit = std::int64_t{256} << 20;
  // Prefix of the new shards if an input's name has none.
  std::string prefix = {};
};

struct RewrittenSet {
  std::string output;                      // the folder
  std::vector<DatasetInfo::Shard> shards;  // names and records if only planned
  std::int64_t left_out = 0;               // bad records
  bool is_plan = false;                    // of a dry run
};

// Writes the shards into the folder options.writing.output, each prefix (train,
// validation, ...) by itself and its inputs in the order of their paths, with
// their index files and a dataset.json; all of them or none. The result does
// not depend on threads and memory. Throws UsageError, IoError, DataError.
[[nodiscard]] RewrittenSet RewriteShards(const std::vector<std::string>& shards,
                                         const RewriteOptions& options,
                                         const Interruption& interruption);

// A line for each new shard with its number of records, then the totals.
[[nodiscard]] ReportTable RewriteReport(const RewrittenSet& set);

struct MergedFile {
  std::string path;
  std::int64_t shards = 0;  // that were read
  std::int64_t records = 0;
  std::int64_t left_out = 0;  // bad records
  bool is_plan = false;       // of a dry run
};

// Writes the records of shards, in the order given, to the file
// options.output, with its index file, or writes nothing. Throws as
// RewriteShards().
[[nodiscard]] MergedFile MergeShards(const std::vector<std::string>& shards,
                                     const WritingOptions& options,
                                     const Interruption& interruption);

// A line with the numbers of records.
[[nodiscard]] ReportTable MergeReport(const MergedFile& file);

}  // namespace infeed

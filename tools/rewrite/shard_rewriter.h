#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/program_end.h"
#include "tools/rewrite/shard_cut.h"
#include "tools/rewrite/writing_options.h"

// Shared by `records reshard` and `records split`: rewrites the shards of a
// set, cut in another way or in another order.
namespace infeed {

enum class RewriteOrder {
  kAsIs,
  kShuffled,  // all records of a prefix permuted by the seed
  kByLabel,   // a shard per class; ShardCut is ignored
};

struct RewriteOptions {
  WritingOptions writing;
  ShardCut cut;
  RewriteOrder order = RewriteOrder::kAsIs;
  std::uint64_t seed = 0;
  std::int64_t memory_limit = std::int64_t{256} << 20;
  // Prefix of the new shards if an input's name has none.
  std::string prefix;
  bool skip_bad = false;  // if false a bad record ends the work
};

// Writes the shards into the folder options.writing.output, each prefix (train,
// validation, ...) by itself, with their index files and a dataset.json; all of
// them or none. Prints each shard with its number of records. The result does
// not depend on threads and memory. Throws UsageError, IoError, DataError.
[[nodiscard]] ProgramEnd RewriteShards(const std::vector<std::string>& shards,
                                       const RewriteOptions& options);

}  // namespace infeed

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/error.h"
#include "tools/rewrite/shard_cut.h"
#include "tools/rewrite/writing_options.h"

// What `records reshard` and `records split` have in common: the shards of a
// set written anew, cut in another way or in another order.
namespace infeed {

enum class RewriteOrder {
  kAsIs,
  kShuffled,  // a permutation of all records of a prefix, by the seed
  kByLabel,   // a shard for each class; ShardCut is not asked
};

struct RewriteOptions {
  WritingOptions writing;
  ShardCut cut;
  RewriteOrder order = RewriteOrder::kAsIs;
  std::uint64_t seed = 0;
  std::int64_t memory_limit = std::int64_t{256} << 20;
  // Of the new shards, where the name of an input says none.
  std::string prefix;
  bool skip_bad = false;  // otherwise a bad record ends the work
};

// Writes the shards into the folder options.writing.output, those of each
// prefix (train, validation, ...) apart, with their index files and a
// dataset.json; all of them or none. Prints each with its number of records.
// The result depends on the shards and on what is written, not on threads and
// memory. Throws UsageError, IoError, DataError.
[[nodiscard]] ExitCode RewriteShards(const std::vector<std::string>& shards,
                                     const RewriteOptions& options);

}  // namespace infeed

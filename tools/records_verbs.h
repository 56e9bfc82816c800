#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/error.h"

// What the program `records` does, a function for each verb. Results go to
// stdout, in the order of the shards.
namespace infeed {

using ShardPaths = std::vector<std::string>;

// Prints the number of records of each shard, then "total N". Throws DataError
// for a broken frame; payloads are not read.
[[nodiscard]] ExitCode CountRecords(const ShardPaths& shards);

struct CatOptions {
  std::int64_t limit = -1;  // records to print; all when negative
};

// Prints each record as a line of JSON: its place, its size, and the features
// of its Example, with bytes that are not text as their length. Goes on behind
// bad records, and returns kDataError when there was one.
[[nodiscard]] ExitCode CatRecords(const ShardPaths& shards,
                                  const CatOptions& options);

// Makes the index files that are missing or stale and says which.
[[nodiscard]] ExitCode IndexShards(const ShardPaths& shards);

struct VerifyOptions {
  bool parse_examples = true;
  bool decode = false;  // every image, whole
  int threads = 0;      // 0: one for each core
};

// Reads every record and prints each bad one with file, record and offset,
// then "N records in M shards, B bad". A broken frame ends its shard. Returns
// kDataError when something is bad.
[[nodiscard]] ExitCode VerifyRecords(const ShardPaths& shards,
                                     const VerifyOptions& options);

}  // namespace infeed

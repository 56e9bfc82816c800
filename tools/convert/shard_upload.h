#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "tools/convert/converter.h"

namespace infeed {

// The place to which a conversion's files are uploaded.
struct UploadTarget {
  std::string url;  // gs://BUCKET/PREFIX or s3://...; empty: nowhere

  [[nodiscard]] bool empty() const { return url.empty(); }
  // The object of a file: all objects lie directly under the prefix, even those
  // of shards in their split's folder.
  [[nodiscard]] std::string ObjectOf(std::string_view name) const;
};

struct UploadResult {
  std::int64_t uploaded = 0;
  std::int64_t skipped = 0;  // uploaded by an earlier run
};

// Uploads the shards of a report in the order of their names, each with its
// index in .infeed/, and then, unless the report is of one process's share,
// labels.txt and dataset.json, so that a data set with dataset.json is
// complete. Each object appears whole or not at all. A shard's side file notes
// its object: a shard whose object exists with the same size is not uploaded
// again.
//
// Calls on_shard(shards done) after each shard. Throws IoError, and DataError
// for a shard whose bytes have changed since they were written.
[[nodiscard]] UploadResult Upload(
    const ConversionReport& report, const std::string& output_dir,
    const UploadTarget& target,
    const std::function<void(std::int64_t)>& on_shard);

}  // namespace infeed

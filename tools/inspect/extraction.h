#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "records/store/key_guess.h"
#include "tools/cli/report_table.h"
#include "tools/shards/record_pass.h"

// Writes the images of records back to folders of classes.
namespace infeed {

struct ExtractOptions {
  std::string output = {};  // folder
  bool split = false;       // a folder per split, by the shards' names
  bool resume = false;      // keep existing files of the right size
  std::int64_t limit = -1;  // records to read; -1: all
  RecordKeys keys = {};
  int threads = 0;  // 0: one per core
};

struct Extraction {
  std::int64_t written = 0;
  std::int64_t skipped = 0;  // existed
  std::int64_t bytes = 0;    // written
  std::size_t renamed = 0;   // files that got a number
  std::size_t folders = 0;   // of written and skipped files
  std::int64_t bad = 0;      // records
};

// Calls `finished` for each shard when it is done, in the order of the paths.
// Throws UsageError for an output folder that is not empty, IoError.
[[nodiscard]] Extraction ExtractImages(
    const std::vector<std::string>& shards, const ExtractOptions& options,
    const std::function<void(const ShardPass&)>& finished);

[[nodiscard]] ReportTable ExtractionReport(const Extraction& extraction);

}  // namespace infeed

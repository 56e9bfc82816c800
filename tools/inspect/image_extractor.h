#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "records/tfrecord/reader.h"
#include "tools/inspect/dataset_stats.h"
#include "tools/shards/record_pass.h"

// Extracts image files from records: one pass plans their names, a second one
// writes them, so that names do not depend on thread timing.
namespace infeed {

struct ExtractOptions {
  std::string output;   // folder
  bool split = false;   // a folder per split, by the shards' names
  bool resume = false;  // keep existing files of the right size
};

// An image's path relative to the output folder: CLASS/NAME. CLASS is the
// synset, else the label; NAME is the record's file name, else a name made of
// shard and record number. Throws DataError for a record without an image.
[[nodiscard]] std::string ImagePath(const std::string& shard_path,
                                    const Record& record, bool split);

using PlacedPath = std::pair<RecordPlace, std::string>;

// The first pass: collects the path of each record.
class PathCollector final : public RecordVisitor {
 public:
  PathCollector(const std::vector<std::string>& shards, bool split)
      : shards_(shards), split_(split) {}

  void Visit(std::size_t shard, const Record& record) override;

  [[nodiscard]] std::vector<PlacedPath>& paths() { return paths_; }

 private:
  const std::vector<std::string>& shards_;
  const bool split_;
  std::vector<PlacedPath> paths_;
};

// For each path that several records have, returns new paths for all records
// but the first: with -2, -3, ... before the extension.
[[nodiscard]] std::map<RecordPlace, std::string> ResolveClashes(
    std::vector<PlacedPath> paths);

struct ExtractCounts {
  std::atomic<std::int64_t> written = 0;
  std::atomic<std::int64_t> skipped = 0;  // existed
  std::atomic<std::int64_t> bytes = 0;    // written
};

// Collects the folders that files were written to. Thread-safe.
class UsedFolders {
 public:
  void AddFolderOf(const std::string& path);
  [[nodiscard]] std::size_t count() const { return folders_.size(); }

 private:
  std::mutex mutex_;
  std::set<std::string> folders_;
};

// Shared by the writing threads.
struct ExtractPlan {
  std::vector<std::string> shards;
  ExtractOptions options;
  std::map<RecordPlace, std::string> renamed;
  ExtractCounts counts;
  UsedFolders folders;
};

// The second pass: writes the images' bytes unchanged, and packed pixels as
// PNGs.
class ImageWriter final : public RecordVisitor {
 public:
  explicit ImageWriter(ExtractPlan& plan) : plan_(plan) {}

  void Visit(std::size_t shard, const Record& record) override;

 private:
  ExtractPlan& plan_;
};

}  // namespace infeed

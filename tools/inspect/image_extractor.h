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

// From records back to image files: a pass that plans their names, then one
// that writes them, so that names do not depend on which thread was faster.
namespace infeed {

struct ExtractOptions {
  std::string output;   // folder
  bool split = false;   // a folder for each split, by the shards' names
  bool resume = false;  // leave files of the right size as they are
};

// Where an image goes, relative to the output folder: CLASS/NAME, with the
// class's synset, else its label, and the record's file name, else one of the
// shard and the record. Throws DataError for a record without an image.
[[nodiscard]] std::string ImagePath(const std::string& shard_path,
                                    const Record& record, bool split);

using PlacedPath = std::pair<RecordPlace, std::string>;

// The first pass: notes where each record would go.
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

// Returns new paths for all but the first record of each path that several
// have: with -2, -3, ... in front of the extension.
[[nodiscard]] std::map<RecordPlace, std::string> ResolveClashes(
    std::vector<PlacedPath> paths);

struct ExtractCounts {
  std::atomic<std::int64_t> written = 0;
  std::atomic<std::int64_t> skipped = 0;  // were there
  std::atomic<std::int64_t> bytes = 0;    // written
};

// The folders that files were written to. Thread-safe.
class UsedFolders {
 public:
  void AddFolderOf(const std::string& path);
  [[nodiscard]] std::size_t count() const { return folders_.size(); }

 private:
  std::mutex mutex_;
  std::set<std::string> folders_;
};

// What the writing threads share.
struct ExtractPlan {
  std::vector<std::string> shards;
  ExtractOptions options;
  std::map<RecordPlace, std::string> renamed;
  ExtractCounts counts;
  UsedFolders folders;
};

// The second pass: writes images as their bytes are, and pixels that are ready
// as PNGs.
class ImageWriter final : public RecordVisitor {
 public:
  explicit ImageWriter(ExtractPlan& plan) : plan_(plan) {}

  void Visit(std::size_t shard, const Record& record) override;

 private:
  ExtractPlan& plan_;
};

}  // namespace infeed

#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "tools/convert/finished_shard.h"
#include "tools/convert/graph.h"
#include "tools/convert/plan.h"
#include "tools/convert/record_maker.h"
#include "tools/convert/shard_file.h"

namespace infeed {

struct ShardResult {
  ShardTask task;
  FinishedShard shard;
  bool kept = false;  // of an earlier run
};

// A shard to be made, and the fingerprint of its sources.
struct FingerprintedTask {
  ShardTask task;
  std::string fingerprint;
};

// Callbacks for the progress of a conversion.
struct ConversionObserver {
  // An image was appended to its shard. One call at a time; returning false
  // ends the conversion.
  std::function<bool()> on_image;
  // A shard and its side file are on disk. From several threads at once.
  std::function<void(ShardResult)> on_shard;
};

// Writes shards of a plan into a folder, and beside each, once it is on disk,
// its side file: the steps of a conversion graph.
//
// The constructor's references must outlive it. Threads as in ConversionSteps.
// Throws IoError, and what RecordMaker throws.
class ShardConverter final : public ConversionSteps {
 public:
  ShardConverter(const ConversionPlan& plan, std::string output_dir,
                 std::vector<FingerprintedTask> tasks, RecordMaker& maker,
                 ConversionObserver observer);

  bool Next(ConversionItem& item) override;
  void Encode(ConversionItem& item) override;
  void Append(ConversionItem& item) override;
  void Finish(std::size_t shard) override;

 private:
  // A shard while it is written.
  struct OpenShard {
    std::unique_ptr<ShardFile> file;
    FinishedShard shard;
    bool has_bad_images = false;
  };

  [[nodiscard]] const PlannedSplit& SplitOf(std::size_t shard) const;
  [[nodiscard]] const PlannedShard& Planned(std::size_t shard) const;
  [[nodiscard]] std::string KeyOf(const ConversionItem& item) const;
  [[nodiscard]] bool LookAhead();
  void Open(std::size_t shard);

  const ConversionPlan& plan_;
  std::string output_dir_;
  std::vector<FingerprintedTask> tasks_;
  RecordMaker& maker_;
  ConversionObserver observer_;
  std::atomic<bool> stopped_{false};
  // Items whose images are being fetched, and the items after them.
  std::deque<ConversionItem> ahead_;
  std::size_t next_shard_ = 0;
  std::int64_t next_image_ = 0;                   // within that shard
  std::vector<std::unique_ptr<OpenShard>> open_;  // one for each task
};

}  // namespace infeed

#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "tools/convert/finished_shard.h"
#include "tools/convert/graph.h"
#include "tools/convert/plan.h"
#include "tools/convert/record_maker.h"

namespace infeed {

// A shard while it is written: turns made records into the bytes of its format.
// The file appears under its name, complete, when Close() returns; without
// Close() nothing remains.
//
// One thread at a time. Throws IoError.
class ShardFile {
 public:
  virtual ~ShardFile() = default;

  // Appends a record that is not to be skipped. key: of its sample in a tar,
  // unique in the data set.
  virtual void Append(const ImageRecord& record, std::string_view key) = 0;
  // Completes the file. Requires: called once, last.
  virtual void Close() = 0;

  [[nodiscard]] virtual std::int64_t records() const = 0;
  // The file's bytes so far.
  [[nodiscard]] virtual std::int64_t size() const = 0;
  // CRC-32C of the file. Requires: Close() returned.
  [[nodiscard]] virtual std::uint32_t crc32c() const = 0;
};

// Begins a shard. path: a file's.
[[nodiscard]] std::unique_ptr<ShardFile> OpenShardFile(const std::string& path,
                                                       ShardFormat format);

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
  void Encode(ConversionItem& item) override {
    item.record = maker_.Make(*item.image, item.fetched.get());
  }
  void Append(ConversionItem& item) override;
  void Finish(std::size_t shard) override;

 private:
  // A shard while it is written.
  struct OpenShard {
    std::unique_ptr<ShardFile> file;
    FinishedShard shard;
    bool has_bad_images = false;
  };

  [[nodiscard]] const PlannedSplit& SplitOf(std::size_t shard) const {
    return plan_.splits[tasks_[shard].task.split];
  }
  [[nodiscard]] const PlannedShard& Planned(std::size_t shard) const {
    return SplitOf(shard).shards[tasks_[shard].task.shard];
  }
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

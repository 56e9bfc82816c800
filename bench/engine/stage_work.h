#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string_view>

#include "pipeline/order/options.h"
#include "records/store/record_index.h"

namespace infeed {

// What is measured: the pipeline, or one of its stages alone.
enum class Stage { kAll, kRead, kDecode, kResize };

// "all", "read", "decode", "resize". Throws UsageError.
[[nodiscard]] Stage ParseStage(std::string_view name);
[[nodiscard]] std::string_view StageName(Stage stage);

// One thread's way to do a stage's work.
class StageWorker {
 public:
  struct Done {
    std::int64_t bytes = 0;
    std::chrono::steady_clock::duration busy{};
  };

  virtual ~StageWorker() = default;
  // Does what the stage does for a place of the endless stream.
  virtual Done Do(std::int64_t place) = 0;
};

// A stage's work, on what it was given beforehand:
//
//   read    records in the stream's order, with checksums, parse, seek index
//   decode  windows of records that are held in memory, to rows that go nowhere
//   resize  decoded windows that are held in memory, into a slot
//
// Made once, by one thread; what is held takes a part of the memory limit.
class StageWork {
 public:
  virtual ~StageWork() = default;
  [[nodiscard]] virtual std::unique_ptr<StageWorker> MakeWorker() const = 0;
};

// The index must outlive the work. Throws UsageError, DataError, IoError.
// Requires: not kAll; input is checked.
[[nodiscard]] std::unique_ptr<StageWork> MakeStageWork(
    Stage stage, const RecordIndex& index, const InputOptions& input);

}  // namespace infeed

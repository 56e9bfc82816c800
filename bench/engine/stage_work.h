#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string_view>

#include "bench/engine/round.h"
#include "pipeline/options/options.h"
#include "records/store/record_index.h"

namespace infeed {

// The part to measure: the whole pipeline, or one stage alone.
enum class Stage { kAll, kRead, kDecode, kResize };

// "all", "read", "decode", "resize". Throws UsageError.
[[nodiscard]] Stage ParseStage(std::string_view name);
[[nodiscard]] std::string_view StageName(Stage stage);

// Does a stage's work in one thread.
class StageWorker {
 public:
  struct Done {
    std::int64_t bytes = 0;
    std::chrono::steady_clock::duration busy{};
  };

  virtual ~StageWorker() = default;
  // Does the stage's work for a place of the endless stream.
  virtual Done Do(std::int64_t place) = 0;
};

// A stage's work, on input that was prepared before:
//
//   read    records in the stream's order, with checksums, parse, seek index
//   decode  windows of records that are held in memory, to rows that go nowhere
//   resize  decoded windows that are held in memory, into a slot
//
// Created once, by one thread; the held records take a part of the memory
// limit.
class StageWork {
 public:
  virtual ~StageWork() = default;
  [[nodiscard]] virtual std::unique_ptr<StageWorker> MakeWorker() const = 0;
};

// The index must outlive the work. Throws UsageError, DataError, IoError.
// Requires: not kAll; input is checked.
[[nodiscard]] std::unique_ptr<StageWork> MakeStageWork(
    Stage stage, const RecordIndex& index, const InputOptions& input);

// Lets input.threads threads do only one stage's work for a while. The rate is
// that of the stage alone; the stats contain only that stage. Throws what
// the work throws. Requires: input is checked.
[[nodiscard]] ThroughputRound MeasureStage(Stage stage, const StageWork& work,
                                           const InputOptions& input,
                                           const RoundOptions& options);

}  // namespace infeed

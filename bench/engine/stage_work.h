#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string_view>

#include "bench/engine/run.h"
#include "pipeline/options/options.h"
#include "records/store/record_index.h"

namespace infeed {

// The part to measure: the whole pipeline, or one stage alone.
enum class Stage { kAll, kRead, kDecode, kResize };

// "all", "read", "decode", "resize". Throws UsageError.
[[nodiscard]] Stage ParseStage(std::string_view name);
[[nodiscard]] std::string_view StageName(Stage stage);

struct StageDone {
  std::int64_t bytes = 0;
  std::chrono::steady_clock::duration busy{};
};

// Does a stage's work for a place of the endless stream. One thread at a time.
using StageWorker = std::function<StageDone(std::int64_t place)>;

// Makes a thread's worker. Thread-safe.
using StageWork = std::function<StageWorker()>;

// A stage's work, on input that is prepared here:
//
//   read    records in the stream's order, with checksums, parse, seek index
//   decode  windows of records that are held in memory, to rows that go nowhere
//   resize  decoded windows that are held in memory, into a slot
//
// The held records take a part of the memory limit. The index must outlive the
// work. Throws UsageError, DataError, IoError. Requires: not kAll; input is
// checked.
[[nodiscard]] StageWork MakeStageWork(Stage stage, const RecordIndex& index,
                                      const InputOptions& input);

// Lets input.threads threads do only one stage's work for a while. The rate is
// that of the stage alone; the stats contain only that stage. Throws what
// the work throws. Requires: input is checked.
[[nodiscard]] ThroughputRound MeasureStage(Stage stage, const StageWork& work,
                                           const InputOptions& input,
                                           const RoundOptions& options);

}  // namespace infeed

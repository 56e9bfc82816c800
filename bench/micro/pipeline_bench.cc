// Measures the pipeline's costs other than images: the order and the pool.

#include <chrono>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include <benchmark/benchmark.h>

#include "pipeline/memory/batch.h"
#include "pipeline/memory/batch_pool.h"
#include "pipeline/order/sample_order.h"
#include "pipeline/stats/stage_counters.h"
#include "pipeline/stats/trace_log.h"

namespace infeed {
namespace {

void OrderPosition(benchmark::State& state) {
  const EpochOrder order =
      SampleOrder(state.range(0), Shuffle::kGlobal, 42).Epoch(0);
  std::int64_t position = 0;
  for (auto _ : state) {
    benchmark::DoNotOptimize(order.RecordAt(position));
    position = position + 1 == state.range(0) ? 0 : position + 1;
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(OrderPosition)->Arg(1000)->Arg(50'000)->Arg(1'281'167)->Arg(1 << 30);

// ImageNet's 1,024 shards, with windows of 16 and 4,096.
SampleOrder ImagenetOrder(Shuffle shuffle) {
  return {std::vector<std::int64_t>(1024, 1251),
          {.shuffle = shuffle, .seed = 42}};
}

void WindowPosition(benchmark::State& state) {
  const EpochOrder order = ImagenetOrder(Shuffle::kWindow).Epoch(0);
  std::int64_t position = 0;
  for (auto _ : state) {
    benchmark::DoNotOptimize(order.RecordAt(position));
    position = (position + 1) % (1024 * 1251);
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(WindowPosition);

void OrderEpoch(benchmark::State& state, Shuffle shuffle) {
  const SampleOrder order = ImagenetOrder(shuffle);
  std::uint32_t epoch = 0;
  for (auto _ : state) {
    benchmark::DoNotOptimize(order.Epoch(epoch++));
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK_CAPTURE(OrderEpoch, global, Shuffle::kGlobal);
BENCHMARK_CAPTURE(OrderEpoch, window, Shuffle::kWindow);
BENCHMARK_CAPTURE(OrderEpoch, torch, Shuffle::kTorch);

void TakeAndReturnABatch(benchmark::State& state) {
  BatchPool pool(3, {.size = 64, .image_size = 224});
  for (auto _ : state) {
    benchmark::DoNotOptimize(pool.Take());
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(TakeAndReturnABatch)->ThreadRange(1, 2);

// The cost of counting a sample's stage, with several threads on the same
// counter.
void CountAStage(benchmark::State& state) {
  static StageCounter counter("decode");
  for (auto _ : state) {
    counter.Add(1000, std::chrono::microseconds(100), {});
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(CountAStage)->ThreadRange(1, 2)->UseRealTime();

void TraceASpan(benchmark::State& state) {
  std::optional<TraceLog> log(std::in_place);
  const auto now = TraceLog::Clock::now();
  std::int64_t added = 0;
  for (auto _ : state) {
    if (++added % 500'000 == 0) {  // Before the log is full.
      state.PauseTiming();
      log.emplace();
      state.ResumeTiming();
    }
    log->Span("decode", now, now, {.position = added});
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(TraceASpan);

void BlankASlot(benchmark::State& state) {
  const int side = static_cast<int>(state.range(0));
  Batch batch({.size = 1, .image_size = side});
  for (auto _ : state) {
    batch.BlankSlot(0);
    benchmark::ClobberMemory();
  }
  state.SetBytesProcessed(state.iterations() * side * side * 4);
}
BENCHMARK(BlankASlot)->Arg(32)->Arg(224);

}  // namespace
}  // namespace infeed

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <benchmark/benchmark.h>

#include "bench/common/photograph.h"
#include "tests/support/entropy_targets.h"
#include "tests/support/jpeg_coefficients.h"
#include "tests/support/test_jpeg.h"

// Measures the entropy decoder alone, one row of MCUs after the other, compared
// with libjpeg-turbo's full path to coefficients. One image of ImageNet's usual
// size and quality; the argument chooses the sampling. Items are images.
namespace infeed {
namespace {

void Samplings(benchmark::internal::Benchmark* benchmark) {
  benchmark->ArgName("subsampling")
      ->Arg(static_cast<int>(Subsampling::k444))
      ->Arg(static_cast<int>(Subsampling::k420))
      ->Unit(benchmark::kMicrosecond);
}

void Libjpeg(benchmark::State& state) {
  const std::string jpeg = Photograph(state.range(0));
  for (auto _ : state) {
    ReadCoefficientsOnly(jpeg);
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(Libjpeg)->Apply(Samplings);

void Tables(benchmark::State& state) {
  CodedScan scan;
  ReadCoefficients(Photograph(state.range(0)), scan);
  for (auto _ : state) {
    for (int i = 0; i < 2; ++i) {
      benchmark::DoNotOptimize(
          BuildDcTable(scan.dc_specs[i], scan.dc_tables[i]));
      benchmark::DoNotOptimize(
          BuildAcTable(scan.ac_specs[i], scan.ac_tables[i]));
      GroupSymbols(scan.ac_tables[i]);
    }
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(Tables)->Apply(Samplings);

// One stream.
void Decode(benchmark::State& state) {
  CodedScan scan;
  ReadCoefficients(Photograph(state.range(0)), scan);
  const std::size_t blocks =
      static_cast<std::size_t>(scan.mcus_per_row) * scan.layout.blocks;
  std::vector<std::int16_t> coefficients(64 * blocks);
  std::vector<std::uint8_t> ends(blocks);
  for (auto _ : state) {
    ScanPlace place;
    for (int row = 0; row < scan.mcu_rows; ++row) {
      benchmark::DoNotOptimize(
          DecodeMcusOnTarget(scan.layout, scan.bytes(), scan.mcus_per_row,
                             place, coefficients.data(), ends.data()));
    }
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(Decode)->Apply(Samplings);

// The second argument selects skipping by groups of symbols.
void Pass(benchmark::State& state) {
  CodedScan scan;
  ReadCoefficients(Photograph(state.range(0)), scan);
  scan.UseGroups(state.range(1) != 0);
  for (auto _ : state) {
    ScanPlace place;
    benchmark::DoNotOptimize(
        PassMcusOnTarget(scan.layout, scan.bytes(), scan.mcus(), place));
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(Pass)
    ->ArgNames({"subsampling", "groups"})
    ->ArgsProduct({{0, 2}, {0, 1}})
    ->Unit(benchmark::kMicrosecond);

// Four rows at a time, as a seek index allows.
void Runs(benchmark::State& state) {
  constexpr int kRows = 4;
  CodedScan scan;
  ReadCoefficients(Photograph(state.range(0)), scan);
  std::vector<ScanPlace> places;
  ScanPlace place;
  for (int row = 0; row < scan.mcu_rows; ++row) {
    places.push_back(place);
    benchmark::DoNotOptimize(
        PassMcusOnTarget(scan.layout, scan.bytes(), scan.mcus_per_row, place));
  }
  const std::size_t blocks =
      static_cast<std::size_t>(scan.mcus_per_row) * scan.layout.blocks +
      kRunSlackBlocks;
  std::vector<std::int16_t> coefficients(kRows * 64 * blocks);
  std::vector<std::uint8_t> ends(kRows * blocks);
  std::vector<McuRun> runs;
  for (auto _ : state) {
    for (int row = 0; row < scan.mcu_rows; row += kRows) {
      runs.clear();
      for (int i = 0; i < std::min(kRows, scan.mcu_rows - row); ++i) {
        runs.push_back({.bytes = scan.bytes(),
                        .place = places[row + i],
                        .mcus = scan.mcus_per_row,
                        .coefficients = coefficients.data() + 64 * blocks * i,
                        .ends = ends.data() + blocks * i});
      }
      benchmark::DoNotOptimize(DecodeRunsOnTarget(scan.layout, runs));
    }
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(Runs)->Apply(Samplings);

}  // namespace
}  // namespace infeed

#include <array>
#include <cstdint>
#include <functional>
#include <numeric>
#include <string>
#include <vector>

#include <benchmark/benchmark.h>

#include "preprocess/pixels/simd_target.h"
#include "tests/support/coefficient_jpeg.h"
#include "tests/support/jpeg_back_half.h"

// Measures the JPEG decoder's stages after the entropy decoder, on each SIMD
// target of this CPU, with cached rows of an image 480 pixels wide.
namespace infeed {
namespace {

constexpr int kColumns = 60;  // blocks
constexpr int kWidth = 8 * kColumns;

// Items are blocks, each with its first `end` coefficients in zigzag order.
void InverseDct(benchmark::State& state, const std::string& target, int size,
                int end) {
  UseSimdTarget(target);
  const JpegBackHalf code = CurrentJpegBackHalf();
  std::vector<std::int16_t> coefficients(std::size_t{64} * kColumns);
  for (int i = 0; i < kColumns * end; ++i) {
    coefficients[i / end * 64 + code.stored_place[i % end]] =
        static_cast<std::int16_t>(i * 2654435761U >> 28);
  }
  std::array<std::int16_t, 64> quantiser{};
  quantiser.fill(3);
  const std::vector<std::uint8_t> ends(kColumns, end);
  std::vector<int> blocks(kColumns);
  std::iota(blocks.begin(), blocks.end(), 0);
  std::vector<std::uint8_t> samples(std::size_t{64} * kColumns);
  for (auto _ : state) {
    benchmark::DoNotOptimize(code.inverse_dct_row(
        size, coefficients.data(), ends.data(), blocks.data(), kColumns,
        quantiser.data(), samples.data(), kWidth));
  }
  state.SetItemsProcessed(state.iterations() * kColumns);
}

// Items are output pixels or samples.
using RowFunction = std::function<void(
    const JpegBackHalf& code, const std::uint8_t* in, std::uint8_t* out)>;

void Row(benchmark::State& state, const std::string& target,
         const RowFunction& function) {
  UseSimdTarget(target);
  const JpegBackHalf code = CurrentJpegBackHalf();
  std::vector<std::uint8_t> in(3 * kWidth + 128);
  std::iota(in.begin(), in.end(), 0);
  std::vector<std::uint8_t> out(3 * kWidth + 64);
  for (auto _ : state) {
    function(code, in.data() + 64, out.data());
    benchmark::ClobberMemory();
  }
  state.SetItemsProcessed(state.iterations() * kWidth);
}

void RegisterTransforms(const std::string& target) {
  const auto add = [&](const std::string& name, int size, int end) {
    benchmark::RegisterBenchmark(("InverseDct/" + name + "/" + target).c_str(),
                                 InverseDct, target, size, end);
  };
  add("full", 8, 64);
  add("corner", 8, 10);
  add("flat", 8, 1);
  add("to4x4", 4, 64);
  add("to2x2", 2, 64);
  add("to1x1", 1, 64);
}

void RegisterRows(const std::string& target) {
  const auto add = [&](const std::string& name, const RowFunction& function) {
    benchmark::RegisterBenchmark((name + "/" + target).c_str(), Row, target,
                                 function);
  };
  add("YccToRgb",
      [](const JpegBackHalf& code, const std::uint8_t* in, std::uint8_t* out) {
        code.ycc_to_rgb(in, in + kWidth, in + 2 * kWidth, kWidth, out);
      });
  add("GrayToRgb",
      [](const JpegBackHalf& code, const std::uint8_t* in, std::uint8_t* out) {
        code.gray_to_rgb(in, kWidth, out);
      });
  add("UpsampleH2V1",
      [](const JpegBackHalf& code, const std::uint8_t* in, std::uint8_t* out) {
        code.upsample_h2v1(in, kWidth / 2, out);
      });
  add("UpsampleH2V2",
      [](const JpegBackHalf& code, const std::uint8_t* in, std::uint8_t* out) {
        code.upsample_h2v2(in, in + kWidth, kWidth / 2, out);
      });
  add("UpsampleH1V2",
      [](const JpegBackHalf& code, const std::uint8_t* in, std::uint8_t* out) {
        code.upsample_h1v2(in, in + kWidth, true, kWidth, out);
      });
}

}  // namespace
}  // namespace infeed

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  for (const std::string& target : infeed::SupportedSimdTargets()) {
    infeed::RegisterTransforms(target);
    infeed::RegisterRows(target);
  }
  benchmark::RunSpecifiedBenchmarks();
}

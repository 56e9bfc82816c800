#include "preprocess/jpeg_pixels/color_scalar.h"

#include <algorithm>

namespace infeed {
namespace {

std::uint8_t Byte(int x) {
  return static_cast<std::uint8_t>(std::clamp(x, 0, 255));
}

// Constants with 16 binary places, and the half that rounds.
constexpr int kRedOfCr = 91881;     // 1.402
constexpr int kBlueOfCb = 116130;   // 1.772
constexpr int kGreenOfCb = -22554;  // -0.34414
constexpr int kGreenOfCr = -46802;  // -0.71414
constexpr int kHalf = 1 << 15;

}  // namespace

void UpsampleH2V1Row(const std::uint8_t* in, int count, std::uint8_t* out) {
  for (int i = 0; i < count; ++i) {
    out[2 * i] = static_cast<std::uint8_t>((3 * in[i] + in[i - 1] + 1) >> 2);
    out[2 * i + 1] =
        static_cast<std::uint8_t>((3 * in[i] + in[i + 1] + 2) >> 2);
  }
}

void UpsampleH2V2Row(const std::uint8_t* near, const std::uint8_t* far,
                     int count, std::uint8_t* out) {
  const auto sum = [&](int i) { return 3 * near[i] + far[i]; };
  for (int i = 0; i < count; ++i) {
    out[2 * i] = static_cast<std::uint8_t>((3 * sum(i) + sum(i - 1) + 8) >> 4);
    out[2 * i + 1] =
        static_cast<std::uint8_t>((3 * sum(i) + sum(i + 1) + 7) >> 4);
  }
}

void UpsampleH1V2Row(const std::uint8_t* near, const std::uint8_t* far,
                     bool lower, int count, std::uint8_t* out) {
  const int bias = lower ? 2 : 1;
  for (int i = 0; i < count; ++i) {
    out[i] = static_cast<std::uint8_t>((3 * near[i] + far[i] + bias) >> 2);
  }
}

void ReplicateH2Row(const std::uint8_t* in, int count, std::uint8_t* out) {
  for (int i = 0; i < count; ++i) {
    out[2 * i] = in[i];
    out[2 * i + 1] = in[i];
  }
}

void YccToRgbRow(const std::uint8_t* y, const std::uint8_t* cb,
                 const std::uint8_t* cr, int count, const PlanesRow& row,
                 int step) {
  for (int i = 0; i < count; ++i) {
    const int u = cb[i] - 128;
    const int v = cr[i] - 128;
    row[0][i * step] = Byte(y[i] + ((kRedOfCr * v + kHalf) >> 16));
    row[1][i * step] =
        Byte(y[i] + ((kGreenOfCb * u + kGreenOfCr * v + kHalf) >> 16));
    row[2][i * step] = Byte(y[i] + ((kBlueOfCb * u + kHalf) >> 16));
  }
}

void PlanesToRgbRow(const std::uint8_t* r, const std::uint8_t* g,
                    const std::uint8_t* b, int count, const PlanesRow& row,
                    int step) {
  for (int i = 0; i < count; ++i) {
    row[0][i * step] = r[i];
    row[1][i * step] = g[i];
    row[2][i * step] = b[i];
  }
}

}  // namespace infeed

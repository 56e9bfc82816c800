#include "preprocess/jpeg_idct_scalar.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdlib>

namespace infeed {
namespace {

// x as a number of 13 binary places.
constexpr int Fix(double x) { return static_cast<int>(x * 8192 + 0.5); }

// Sums that wrap at 32 and at 16 bits, as registers do.
std::int32_t Wrapped(std::int64_t x) {
  return static_cast<std::int32_t>(static_cast<std::uint32_t>(x));
}
int Wrapped16(int x) {
  return static_cast<std::int16_t>(static_cast<std::uint16_t>(x));
}

// The eight results of one pass over eight numbers, shifted right by `shift`
// with rounding.
template <int kShift>
std::array<int, 8> Pass(const std::array<int, 8>& in) {
  using Wide = std::int64_t;
  const Wide half = Wide{1} << (kShift - 1);
  const Wide sum = Wide{Wrapped16(in[0] + in[4])} * 8192 + half;
  const Wide difference = Wide{Wrapped16(in[0] - in[4])} * 8192 + half;
  const Wide low = Wide{in[2]} * Fix(0.541196100) +
                   Wide{in[6]} * (Fix(0.541196100) - Fix(1.847759065));
  const Wide high = Wide{in[2]} * (Fix(0.541196100) + Fix(0.765366865)) +
                    Wide{in[6]} * Fix(0.541196100);
  const std::array<Wide, 4> even = {sum + high, difference + low,
                                    difference - low, sum - high};

  const Wide a = Wrapped16(in[7] + in[3]);
  const Wide b = Wrapped16(in[5] + in[1]);
  const Wide a_turned =
      a * (Fix(1.175875602) - Fix(1.961570560)) + b * Fix(1.175875602);
  const Wide b_turned =
      a * Fix(1.175875602) + b * (Fix(1.175875602) - Fix(0.390180644));
  const std::array<Wide, 4> odd = {
      in[1] * Wide{Fix(1.501321110) - Fix(0.899976223)} -
          in[7] * Wide{Fix(0.899976223)} + b_turned,
      in[3] * Wide{Fix(3.072711026) - Fix(2.562915447)} -
          in[5] * Wide{Fix(2.562915447)} + a_turned,
      in[5] * Wide{Fix(2.053119869) - Fix(2.562915447)} -
          in[3] * Wide{Fix(2.562915447)} + b_turned,
      in[7] * Wide{Fix(0.298631336) - Fix(0.899976223)} -
          in[1] * Wide{Fix(0.899976223)} + a_turned};
  std::array<int, 8> out{};
  for (std::size_t i = 0; i < 4; ++i) {
    out[i] = Wrapped(even[i] + odd[i]) >> kShift;
    out[7 - i] = Wrapped(even[i] - odd[i]) >> kShift;
  }
  return out;
}

bool Beyond(int x, int limit) { return std::abs(x) > limit; }

}  // namespace

bool InverseDctBlock(const std::int16_t* coefficients,
                     const std::int16_t* quantiser, std::uint8_t* out,
                     std::ptrdiff_t stride) {
  std::array<std::array<int, 8>, 8> rows;  // of the first pass's results
  bool extreme = false;
  for (std::size_t x = 0; x < 8; ++x) {
    std::array<int, 8> column;
    for (std::size_t y = 0; y < 8; ++y) {
      column[y] = Wrapped16(coefficients[8 * y + x] * quantiser[8 * y + x]);
    }
    extreme |= Beyond(column[0], 8191) || Beyond(column[4], 8191);
    const std::array<int, 8> results = Pass<11>(column);
    for (std::size_t y = 0; y < 8; ++y) {
      rows[y][x] = std::clamp(results[y], -32768, 32767);
    }
  }
  for (const std::array<int, 8>& row : rows) {
    extreme |= Beyond(row[0], 16383) || Beyond(row[4], 16383);
    const std::array<int, 8> samples = Pass<18>(row);
    for (std::size_t x = 0; x < 8; ++x) {
      out[x] = static_cast<std::uint8_t>(std::clamp(samples[x] + 128, 0, 255));
    }
    out += stride;
  }
  return !extreme;
}

}  // namespace infeed

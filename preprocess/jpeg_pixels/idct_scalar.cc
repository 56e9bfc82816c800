#include "preprocess/jpeg_pixels/idct_scalar.h"

#include <algorithm>
#include <array>
#include <cstdlib>

namespace infeed {
namespace {

// 32-bit numbers that wrap, as in registers.
using Word = std::uint32_t;

Word ToWord(int x) { return static_cast<Word>(x); }
int ToInt(Word x) { return static_cast<std::int32_t>(x); }

constexpr Word Fix(double x) { return static_cast<Word>(Fixed13(x)); }

// The eight results of one pass over eight numbers, shifted right with
// rounding.
template <int kShift>
std::array<int, 8> Pass(const std::array<int, 8>& in) {
  constexpr Word kHalf = Word{1} << (kShift - 1);
  const Word sum = ToWord(Wrapped16(in[0] + in[4])) * 8192 + kHalf;
  const Word difference = ToWord(Wrapped16(in[0] - in[4])) * 8192 + kHalf;
  const Word slope = ToWord(in[2] + in[6]) * Fix(0.541196100);
  const Word low = slope - ToWord(in[6]) * Fix(1.847759065);
  const Word high = slope + ToWord(in[2]) * Fix(0.765366865);
  const std::array<Word, 4> even = {sum + high, difference + low,
                                    difference - low, sum - high};

  const Word a = ToWord(Wrapped16(in[7] + in[3]));
  const Word b = ToWord(Wrapped16(in[5] + in[1]));
  const Word both = (a + b) * Fix(1.175875602);
  const Word a_turned = both - a * Fix(1.961570560);
  const Word b_turned = both - b * Fix(0.390180644);
  const Word outer = ToWord(in[7] + in[1]) * Fix(0.899976223);
  const Word inner = ToWord(in[5] + in[3]) * Fix(2.562915447);
  const std::array<Word, 4> odd = {
      ToWord(in[1]) * Fix(1.501321110) - outer + b_turned,
      ToWord(in[3]) * Fix(3.072711026) - inner + a_turned,
      ToWord(in[5]) * Fix(2.053119869) - inner + b_turned,
      ToWord(in[7]) * Fix(0.298631336) - outer + a_turned};
  std::array<int, 8> out{};
  for (std::size_t i = 0; i < 4; ++i) {
    out[i] = ToInt(even[i] + odd[i]) >> kShift;
    out[7 - i] = ToInt(even[i] - odd[i]) >> kShift;
  }
  return out;
}

bool Beyond(int x, int limit) { return std::abs(x) > limit; }

}  // namespace

bool InverseDctBlock(const std::int16_t* coefficients,
                     const std::int16_t* quantiser, std::uint8_t* out,
                     std::ptrdiff_t stride) {
  std::array<std::array<int, 8>, 8> rows{};  // results of the first pass
  bool extreme = false;
  for (std::size_t x = 0; x < 8; ++x) {
    std::array<int, 8> column{};
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

namespace {

using Wide = std::int64_t;
using Column = std::array<int, 8>;

// Sums that wrap at 32 and at 16 bits, as in registers.
std::int32_t Wrapped(Wide x) {
  return static_cast<std::int32_t>(static_cast<std::uint32_t>(x));
}

// A pass over eight numbers to two or four results, shifted right with
// rounding. The constants are sums of cosines.
template <int kShift>
std::array<int, 2> PassTo2(const Column& in) {
  const Wide even = Wide{in[0]} * (1 << 15) + (Wide{1} << (kShift - 1));
  const Wide odd =
      Wide{in[1]} * Fixed13(3.624509785) - Wide{in[3]} * Fixed13(1.272758580) +
      Wide{in[5]} * Fixed13(0.850430095) - Wide{in[7]} * Fixed13(0.720959822);
  return {Wrapped(even + odd) >> kShift, Wrapped(even - odd) >> kShift};
}

template <int kShift>
std::array<int, 4> PassTo4(const Column& in) {
  const Wide mean = Wide{in[0]} * (1 << 14) + (Wide{1} << (kShift - 1));
  const Wide slope =
      Wide{in[2]} * Fixed13(1.847759065) - Wide{in[6]} * Fixed13(0.765366865);
  const Wide outer =
      Wide{in[1]} * Fixed13(2.562915447) + Wide{in[3]} * Fixed13(0.899976223) -
      Wide{in[5]} * Fixed13(0.601344887) - Wide{in[7]} * Fixed13(0.509795579);
  const Wide inner =
      Wide{in[1]} * Fixed13(1.061594337) - Wide{in[3]} * Fixed13(2.172734803) +
      Wide{in[5]} * Fixed13(1.451774981) - Wide{in[7]} * Fixed13(0.211164243);
  return {Wrapped(mean + slope + outer) >> kShift,
          Wrapped(mean - slope + inner) >> kShift,
          Wrapped(mean - slope - inner) >> kShift,
          Wrapped(mean + slope - outer) >> kShift};
}

std::uint8_t Sample(int x) {
  return static_cast<std::uint8_t>(std::clamp(x + 128, 0, 255));
}

template <int kSize, typename First, typename Second>
bool Transform(const std::int16_t* coefficients, const std::int16_t* quantiser,
               std::uint8_t* out, std::ptrdiff_t stride, First first,
               Second second) {
  std::array<Column, kSize> rows{};
  bool extreme = false;
  for (std::size_t x = 0; x < 8; ++x) {
    Column column{};
    for (std::size_t y = 0; y < 8; ++y) {
      column[y] = Wrapped16(coefficients[8 * y + x] * quantiser[8 * y + x]);
    }
    extreme |= std::abs(column[0]) > 8191;
    const auto results = first(column);
    for (std::size_t y = 0; y < kSize; ++y) {
      rows[y][x] = std::clamp(results[y], -32768, 32767);
      extreme |= kSize == 2 && x == 0 && std::abs(rows[y][x]) > 16383;
    }
  }
  for (const Column& row : rows) {
    const auto samples = second(row);
    std::transform(samples.begin(), samples.end(), out, Sample);
    out += stride;
  }
  return !extreme;
}

}  // namespace

bool InverseDctBlockScaled(int size, const std::int16_t* coefficients,
                           const std::int16_t* quantiser, std::uint8_t* out,
                           std::ptrdiff_t stride) {
  if (size == 4) {
    return Transform<4>(coefficients, quantiser, out, stride, PassTo4<12>,
                        PassTo4<19>);
  }
  if (size == 2) {
    return Transform<2>(coefficients, quantiser, out, stride, PassTo2<13>,
                        PassTo2<20>);
  }
  const int dc = coefficients[0] * quantiser[0];
  *out = Sample((dc + 4) >> 3);
  return std::abs(dc) <= 4087;
}

}  // namespace infeed

#include "tools/convert/python_shuffle.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <numeric>
#include <random>
#include <utility>

#include "base/error.h"

namespace infeed {
namespace {

constexpr std::size_t kStateWords = std::mt19937::state_size;

// Initialises a std::mt19937 as Python does: the Mersenne Twister's
// initialisation by an array, here the seed's 32-bit words, low word first.
// (The standard's seed sequence mixes differently.)
class PythonSeed {
 public:
  using result_type = std::uint32_t;

  explicit PythonSeed(std::uint64_t seed)
      : words_{static_cast<std::uint32_t>(seed),
               static_cast<std::uint32_t>(seed >> 32)},
        count_(words_[1] == 0 ? 1 : 2) {}

  // Called by the engine's constructor with its whole state.
  template <typename Iterator>
  void generate(Iterator begin, Iterator end) {
    Check(end - begin == static_cast<std::ptrdiff_t>(kStateWords),
          "the engine is seeded at once");
    const std::array<std::uint32_t, kStateWords> state = State();
    std::copy(state.begin(), state.end(), begin);
  }

 private:
  using Words = std::array<std::uint32_t, kStateWords>;

  // The word before i, spread over 32 bits, which each round mixes in.
  static std::uint32_t Previous(const Words& state, std::size_t i) {
    return state[i - 1] ^ (state[i - 1] >> 30);
  }

  // Steps to the next word; word 0 takes over from the last one.
  static void Advance(Words& state, std::size_t& i) {
    if (++i == kStateWords) {
      state[0] = state[kStateWords - 1];
      i = 1;
    }
  }

  [[nodiscard]] Words State() const {
    Words state{};
    state[0] = 19650218;
    for (std::size_t i = 1; i < kStateWords; ++i) {
      state[i] =
          1812433253U * Previous(state, i) + static_cast<std::uint32_t>(i);
    }
    std::size_t i = 1;
    for (std::size_t k = 0; k < kStateWords; ++k) {
      const std::size_t j = k % count_;
      state[i] = (state[i] ^ Previous(state, i) * 1664525U) + words_[j] +
                 static_cast<std::uint32_t>(j);
      Advance(state, i);
    }
    for (std::size_t k = 1; k < kStateWords; ++k) {
      state[i] = (state[i] ^ Previous(state, i) * 1566083941U) -
                 static_cast<std::uint32_t>(i);
      Advance(state, i);
    }
    state[0] = 0x80000000U;
    return state;
  }

  std::array<std::uint32_t, 2> words_;
  std::size_t count_;
};

// An integer in [0, n): the top bits of a word, drawn again while too large.
std::uint32_t Below(std::mt19937& engine, std::uint32_t n) {
  const int unused_bits = std::countl_zero(n);
  std::uint32_t drawn = engine() >> unused_bits;
  while (drawn >= n) {
    drawn = engine() >> unused_bits;
  }
  return drawn;
}

}  // namespace

std::vector<std::int64_t> PythonShuffle(std::int64_t count,
                                        std::uint64_t seed) {
  Check(count >= 0 && count < std::int64_t{1} << 32,
        "at most 2^32 things are shuffled");
  PythonSeed sequence(seed);
  std::mt19937 engine(sequence);
  std::vector<std::int64_t> order(static_cast<std::size_t>(count));
  std::iota(order.begin(), order.end(), 0);
  for (std::size_t i = order.size(); i-- > 1;) {
    std::swap(order[i],
              order[Below(engine, static_cast<std::uint32_t>(i + 1))]);
  }
  return order;
}

}  // namespace infeed

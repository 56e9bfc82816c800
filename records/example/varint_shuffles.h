#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace infeed {

// How four numbers are put together from their bytes, for each pattern of the
// next kBytes bytes: bit i is set where byte i is not the last of its number
// (Plaisance, Kurz, Lemire: "Vectorized VByte Decoding", 2015).
class VarintShuffles {
 public:
  static constexpr int kBytes = 12;
  static constexpr int kNumbers = 4;
  static constexpr int kNumberBytes = 4;

  struct Shuffle {
    // Of byte k of number i: its place; kZero: none.
    std::array<std::uint8_t, std::size_t{kNumbers} * kNumberBytes> places;
    std::uint8_t numbers;  // that are whole and have up to four bytes
    std::uint8_t bytes;    // of them
  };

  constexpr VarintShuffles() {
    for (std::size_t pattern = 0; pattern < shuffles_.size(); ++pattern) {
      shuffles_[pattern] = Of(static_cast<std::uint32_t>(pattern));
    }
  }
  [[nodiscard]] const Shuffle& At(std::uint32_t pattern) const {
    return shuffles_[pattern % shuffles_.size()];
  }

 private:
  static constexpr std::uint8_t kZero = 0x80;

  static constexpr Shuffle Of(std::uint32_t pattern) {
    Shuffle shuffle = {};
    shuffle.places.fill(kZero);
    int begin = 0;
    for (int number = 0; number < kNumbers; ++number) {
      int end = begin;
      while (end < kBytes && (pattern >> end & 1) != 0) {
        ++end;
      }
      ++end;
      if (end > kBytes || end - begin > kNumberBytes) {
        break;
      }
      for (int i = begin; i < end; ++i) {
        shuffle.places[static_cast<std::size_t>(
            number * kNumberBytes + i - begin)] = static_cast<std::uint8_t>(i);
      }
      begin = end;
      ++shuffle.numbers;
    }
    shuffle.bytes = static_cast<std::uint8_t>(begin);
    return shuffle;
  }

  std::array<Shuffle, std::size_t{1} << kBytes> shuffles_ = {};
};

inline constexpr VarintShuffles kVarintShuffles;

}  // namespace infeed

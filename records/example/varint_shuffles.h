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

  // Of byte k of number i: its place; kZero: none.
  using Places = std::array<std::uint8_t, std::size_t{kNumbers} * kNumberBytes>;
  // Numbers that are whole and have up to four bytes. Apart from the places,
  // and short, because the next pattern waits for it.
  struct Whole {
    std::uint8_t numbers;
    std::uint8_t bytes;  // of them
  };

  constexpr VarintShuffles() {
    for (std::size_t pattern = 0; pattern < kPatterns; ++pattern) {
      Add(static_cast<std::uint32_t>(pattern));
    }
  }
  [[nodiscard]] const Places& PlacesAt(std::uint64_t pattern) const {
    return places_[pattern % kPatterns];
  }
  [[nodiscard]] Whole WholeAt(std::uint64_t pattern) const {
    return whole_[pattern % kPatterns];
  }

 private:
  static constexpr std::uint8_t kZero = 0x80;

  static constexpr std::size_t kPatterns = std::size_t{1} << kBytes;

  constexpr void Add(std::uint32_t pattern) {
    Places& places = places_[pattern];
    Whole& whole = whole_[pattern];
    places.fill(kZero);
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
        places[static_cast<std::size_t>(number * kNumberBytes + i - begin)] =
            static_cast<std::uint8_t>(i);
      }
      begin = end;
      ++whole.numbers;
    }
    whole.bytes = static_cast<std::uint8_t>(begin);
  }

  alignas(16) std::array<Places, kPatterns> places_ = {};
  std::array<Whole, kPatterns> whole_ = {};
};

inline constexpr VarintShuffles kVarintShuffles;

}  // namespace infeed

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

// Random numbers without state: a draw is a function of (seed, epoch, position,
// stream, index), so that any thread, rank or resumed run draws the same
// numbers. The generator is Philox 4x32-10 (Salmon et al., "Parallel random
// numbers: as easy as 1, 2, 3", SC 2011).
namespace infeed {

// Returns one block of four 32-bit words.
[[nodiscard]] std::array<std::uint32_t, 4> Philox4x32(
    std::array<std::uint32_t, 2> key, std::array<std::uint32_t, 4> counter);

// For vector code: the multipliers of words 0 and 2, and each round's key.
inline constexpr std::array<std::uint32_t, 2> kPhiloxMultipliers = {0xD2511F53,
                                                                    0xCD9E8D57};
inline constexpr std::size_t kPhiloxRounds = 10;
using PhiloxKeys = std::array<std::array<std::uint32_t, 2>, kPhiloxRounds>;
[[nodiscard]] PhiloxKeys PhiloxKeysOf(std::array<std::uint32_t, 2> key);

// The purpose of a draw. Changing a value changes every batch.
enum class RandomStream : std::uint32_t {
  kOrder = 0,
  kCrop = 1,
  kFlip = 2,
  kAugmentation = 3,
  kReplacement = 4,
  kMix = 5,
  kMadeData = 6,
  kNetwork = 8,
  kInterpolation = 9,
};

// The sample that a draw belongs to. position is its place in the epoch's
// order; view is the number of one of the sample's outputs, below kMaxViews,
// each of which has streams of its own.
struct SampleKey {
  std::uint64_t seed = 0;
  std::uint32_t epoch = 0;
  std::uint64_t position = 0;
  std::uint32_t view = 0;
};

inline constexpr std::uint32_t kMaxViews = 16;

// An interface for draws, so that tests can run functions on the draws of
// another system.
class RandomSource {
 public:
  virtual ~RandomSource() = default;
  // Returns an integer in [0, n). Requires: n > 0.
  virtual std::uint32_t Below(std::uint32_t n) = 0;
  // Returns a real in [0, 1).
  virtual float Real() = 0;
};

// The draws of one sample in one stream, in order: counter = (block | (stream +
// 16 view) << 24, epoch, position's low word, high word), key = (seed's low
// word, high word), where block counts the Philox blocks used, starting at
// first_block.
// Copyable. One thread at a time.
class SampleRandom final : public RandomSource {
 public:
  // Requires: first_block < 2^24, key.view < kMaxViews.
  SampleRandom(const SampleKey& key, RandomStream stream,
               std::uint32_t first_block = 0);

  [[nodiscard]] std::uint32_t Word();
  // uint64(word) * n >> 32.
  [[nodiscard]] std::uint32_t Below(std::uint32_t n) override;
  // (word >> 8) * 2^-24.
  [[nodiscard]] float Real() override;

 private:
  std::array<std::uint32_t, 2> key_;
  std::array<std::uint32_t, 4> counter_;
  std::array<std::uint32_t, 4> words_{};
  std::size_t used_ = 4;
};

}  // namespace infeed

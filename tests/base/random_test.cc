#include "base/random.h"

#include <array>
#include <cstdint>
#include <vector>

#include "gtest/gtest.h"

namespace infeed {
namespace {

using Words = std::array<std::uint32_t, 4>;

// Random123's known answers for Philox 4x32-10.
TEST(Philox4x32Test, GivesThePublishedWords) {
  EXPECT_EQ(Philox4x32({0, 0}, {0, 0, 0, 0}),
            (Words{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  constexpr std::uint32_t kOnes = 0xffffffff;
  EXPECT_EQ(Philox4x32({kOnes, kOnes}, {kOnes, kOnes, kOnes, kOnes}),
            (Words{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(Philox4x32({1, 0}, {0, 0, 2, 0}),
            (Words{0xe73404cf, 0x8cedc5d3, 0x3f071736, 0x0a0afddd}));
}

TEST(SampleRandomTest, LaysTheCounterOutAsDocumented) {
  const SampleKey key{
      .seed = 0x1122334455667788, .epoch = 7, .position = 0xaabbccdd00112233};
  SampleRandom random(key, RandomStream::kFlip, 5);
  const Words expected = Philox4x32({0x55667788, 0x11223344},
                                    {5 | 2U << 24, 7, 0x00112233, 0xaabbccdd});
  for (const std::uint32_t word : expected) {
    EXPECT_EQ(random.Word(), word);
  }
  const Words next = Philox4x32({0x55667788, 0x11223344},
                                {6 | 2U << 24, 7, 0x00112233, 0xaabbccdd});
  EXPECT_EQ(random.Word(), next[0]);
}

TEST(SampleRandomTest, GivesEachViewStreamsOfItsOwn) {
  SampleRandom random({.seed = 1, .epoch = 7, .position = 5, .view = 15},
                      RandomStream::kInterpolation);
  EXPECT_EQ(random.Word(), Philox4x32({1, 0}, {249U << 24, 7, 5, 0})[0]);
}

TEST(SampleRandomTest, MapsWordsToRangesAsDocumented) {
  const SampleKey key{.seed = 3, .epoch = 1, .position = 9};
  SampleRandom words(key, RandomStream::kCrop);
  SampleRandom draws(key, RandomStream::kCrop);
  EXPECT_EQ(draws.Below(1000), static_cast<std::uint32_t>(
                                   std::uint64_t{words.Word()} * 1000 >> 32));
  EXPECT_EQ(draws.Real(), static_cast<float>(words.Word() >> 8) / 16777216.0F);
}

TEST(SampleRandomTest, FillsARangeEvenly) {
  std::vector<int> counts(10);
  for (std::uint64_t position = 0; position < 10000; ++position) {
    SampleRandom random({.seed = 1, .epoch = 0, .position = position},
                        RandomStream::kMix);
    ++counts[random.Below(10)];
  }
  // Binomial with mean 1,000 and deviation 30: five deviations either way.
  for (const int count : counts) {
    EXPECT_NEAR(count, 1000, 150);
  }
}

}  // namespace
}  // namespace infeed

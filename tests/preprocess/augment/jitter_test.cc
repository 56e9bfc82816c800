#include "preprocess/augment/jitter.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/atomic_file.h"
#include "preprocess/augment/color_ops.h"
#include "tests/support/augment_images.h"
#include "tests/support/each_target.h"

// Goldens are torchvision's; tests/data/README.augment.md says how.
namespace infeed::jitter_test {

using Pixels = std::vector<std::uint32_t>;

void Adjust(const std::string& kind, float factor, Pixels& pixels) {
  if (kind == "brightness") {
    JitterBrightness(factor, pixels);
  } else if (kind == "contrast") {
    JitterContrast(factor, pixels);
  } else if (kind == "saturation") {
    JitterSaturation(factor, pixels);
  } else if (kind == "solarize") {
    Solarize(static_cast<int>(factor), pixels);
  }
}

struct Golden {
  std::string image;
  int side = 0;
  std::string kind;
  float factor = 0;
  std::string hash;
};

std::vector<Golden> ReadGoldens() {
  std::ifstream file(INFEED_TEST_DATA "/jitter_goldens.txt");
  std::string line;
  std::getline(file, line);  // Versions.
  std::vector<Golden> goldens;
  for (Golden golden; file >> golden.image >> golden.side >> golden.kind >>
                      golden.factor >> golden.hash;) {
    goldens.push_back(golden);
  }
  return goldens;
}

TEST(AugmentJitterTest, AdjustsToTorchvisionsBytes) {
  const std::vector<Golden> goldens = ReadGoldens();
  EXPECT_EQ(goldens.size(), 100U);
  OnEachSimdTarget([&] {
    for (const Golden& golden : goldens) {
      Pixels pixels = AugmentImage(golden.image, golden.side);
      Adjust(golden.kind, golden.factor, pixels);
      EXPECT_EQ(Fnv1a64(RgbBytes(pixels)), golden.hash)
          << golden.kind << " " << golden.factor << " of " << golden.image
          << " " << golden.side;
    }
  });
}

// Two images, turned six times.
std::string Turned() {
  std::string turned;
  for (const float turn : {-0.5F, -0.31F, -0.1F, 0.02F, 0.25F, 0.5F}) {
    for (const char* image : {"noise", "soft"}) {
      Pixels pixels = AugmentImage(image, 32);
      JitterHue(turn, pixels);
      turned += RgbBytes(pixels);
    }
  }
  return turned;
}

TEST(AugmentJitterTest, TurnsTheHueAsTorchvisionWithinALevel) {
  const std::string golden =
      ReadWholeFile(INFEED_TEST_DATA "/jitter_hue.rgb", 1 << 20);
  ExpectWithinALevel(Turned(), golden, golden.size() / 1000);
}

TEST(AugmentJitterTest, TurnsTheHueAlikeOnEveryTarget) {
  const std::string best = Turned();
  OnEachSimdTarget([&] { EXPECT_EQ(Turned(), best); });
}

TEST(AugmentJitterTest, ATurnOfAThirdMovesTheChannels) {
  Pixels pixels = {PackPixel(250, 10, 10), PackPixel(7, 7, 7),
                   PackPixel(0, 0, 0)};
  JitterHue(1.0F / 3.0F, pixels);
  EXPECT_EQ(pixels, (Pixels{PackPixel(10, 250, 10), PackPixel(7, 7, 7),
                            PackPixel(0, 0, 0)}));
}

constexpr AugmentOptions kAll = {
    .brightness = 0.4F, .contrast = 1.5F, .saturation = 0.2F, .hue = 0.1F};

Jitter Drawn(std::uint64_t position, const AugmentOptions& options = kAll) {
  SampleRandom random({.position = position}, RandomStream::kAugmentation);
  return DrawJitter(options, random);
}

TEST(AugmentJitterTest, DrawsEveryOrderEquallyOften) {
  constexpr int kDraws = 4800;
  std::map<std::array<JitterKind, 4>, int> counts;
  for (int i = 0; i < kDraws; ++i) {
    ++counts[Drawn(static_cast<std::uint64_t>(i)).order];
  }
  ASSERT_EQ(counts.size(), 24U);
  for (const auto& [order, count] : counts) {
    EXPECT_NEAR(count, kDraws / 24, 60);  // More than four deviations.
  }
}

TEST(AugmentJitterTest, DrawsFactorsOfTheirWholeRanges) {
  std::array<float, 4> low;
  low.fill(9);
  std::array<float, 4> high;
  high.fill(-9);
  for (std::uint64_t i = 0; i < 2000; ++i) {
    const std::array<float, 4> factors = Drawn(i).factors;
    for (std::size_t kind = 0; kind < 4; ++kind) {
      low[kind] = std::min(low[kind], factors[kind]);
      high[kind] = std::max(high[kind], factors[kind]);
    }
  }
  const std::array<float, 4> least = {0.6F, 0, 0.8F, -0.1F};
  const std::array<float, 4> most = {1.4F, 2.5F, 1.2F, 0.1F};
  for (std::size_t kind = 0; kind < 4; ++kind) {
    const float slack = (most[kind] - least[kind]) / 100;
    EXPECT_GE(low[kind], least[kind]);
    EXPECT_LE(low[kind], least[kind] + slack);
    EXPECT_LE(high[kind], most[kind]);
    EXPECT_GE(high[kind], most[kind] - slack);
  }
}

TEST(AugmentJitterTest, DrawsTheSameForAFactorWhetherOthersAreOnOrNot) {
  for (std::uint64_t i = 0; i < 20; ++i) {
    const Jitter all = Drawn(i);
    const Jitter alone = Drawn(i, {.saturation = 0.2F});
    EXPECT_EQ(alone.order, all.order);
    EXPECT_EQ(alone.factors[2], all.factors[2]);
    EXPECT_EQ(alone.factors[0], 1);
    EXPECT_EQ(alone.factors[1], 1);
    EXPECT_EQ(alone.factors[3], 0);
  }
}

TEST(AugmentJitterTest, AppliesInTheOrderDrawn) {
  using enum JitterKind;
  const std::array<float, 4> factors = {1.4F, 0.5F, 1.6F, 0.1F};
  const Pixels pixels = AugmentImage("noise", 16);
  Pixels jittered = pixels;
  ApplyJitter({{kHue, kContrast, kSaturation, kBrightness}, factors}, jittered);
  Pixels expected = pixels;
  JitterHue(0.1F, expected);
  JitterContrast(0.5F, expected);
  JitterSaturation(1.6F, expected);
  JitterBrightness(1.4F, expected);
  EXPECT_EQ(jittered, expected);
  ApplyJitter({{kBrightness, kContrast, kSaturation, kHue}, factors}, jittered);
  EXPECT_NE(jittered, expected);
}

}  // namespace infeed::jitter_test

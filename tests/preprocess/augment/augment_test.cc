#include "preprocess/augment/augment.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "preprocess/augment/blur.h"
#include "preprocess/augment/color_ops.h"
#include "preprocess/augment/erasing.h"
#include "preprocess/augment/jitter.h"
#include "preprocess/pixels/pack.h"
#include "tests/support/augment_images.h"
#include "tests/support/throws.h"

namespace infeed::augment_test {

using Pixels = std::vector<std::uint32_t>;
constexpr int kSide = 24;

constexpr AugmentOptions kRand{.policy = AugmentPolicy::kRandAugment};
constexpr AugmentOptions kAuto{.policy = AugmentPolicy::kAutoAugment};
constexpr AugmentOptions kAll{.policy = AugmentPolicy::kRandAugment,
                              .layers = 3,
                              .magnitude = 9,
                              .brightness = 0.4F,
                              .contrast = 0.4F,
                              .saturation = 0.4F,
                              .hue = 0.1F,
                              .erasing = 0.5F};

SampleKey Key(std::uint64_t position) {
  return {.seed = 5, .epoch = 2, .position = position};
}

Pixels Augmented(const AugmentOptions& options, const SampleKey& key) {
  Pixels pixels = AugmentImage("noise", kSide);
  Augmenter(options, kSide).Apply(pixels, key);
  return pixels;
}

SampleRandom DrawsFrom(const SampleKey& key, std::uint32_t block) {
  return SampleRandom(key, RandomStream::kAugmentation, block);
}

// As the class comment has it: the operation is drawn already.
void ApplyNext(AugmentOp op, int level, const AugmentReach& reach,
               SampleRandom& random, Pixels& pixels) {
  OpScratch scratch;
  OpDraws draws;
  draws.is_negative = random.Below(2) == 1;
  draws.row = static_cast<int>(random.Below(kSide));
  draws.column = static_cast<int>(random.Below(kSide));
  ApplyAugmentOp(op, level, reach, draws, {pixels, kSide}, scratch);
}

void RandAugmentByHand(const AugmentOptions& options, const SampleKey& key,
                       Pixels& pixels) {
  for (int layer = 0; layer < options.layers; ++layer) {
    SampleRandom random = DrawsFrom(key, 8 + static_cast<std::uint32_t>(layer));
    const auto op = static_cast<AugmentOp>(random.Below(16));
    ApplyNext(op, options.magnitude, kRandAugmentReach, random, pixels);
  }
}

TEST(AugmenterTest, DoesNothingUnlessTold) {
  EXPECT_EQ(Augmented({}, Key(1)), AugmentImage("noise", kSide));
}

TEST(AugmenterTest, RandAugmentDrawsAsDocumented) {
  for (std::uint64_t i = 0; i < 100; ++i) {
    Pixels expected = AugmentImage("noise", kSide);
    RandAugmentByHand(kRand, Key(i), expected);
    ASSERT_EQ(Augmented(kRand, Key(i)), expected) << i;
  }
}

TEST(AugmenterTest, AutoAugmentDrawsAsDocumented) {
  for (std::uint64_t i = 0; i < 200; ++i) {
    Pixels expected = AugmentImage("noise", kSide);
    const SubPolicy& pair = AutoAugmentPolicy()[DrawsFrom(Key(i), 8).Below(25)];
    for (std::uint32_t step = 0; step < 2; ++step) {
      SampleRandom random = DrawsFrom(Key(i), 9 + step);
      if (random.Real() + pair[step].probability >= 1.0F) {
        ApplyNext(pair[step].op, pair[step].level, kAutoAugmentReach, random,
                  expected);
      }
    }
    ASSERT_EQ(Augmented(kAuto, Key(i)), expected) << i;
  }
}

float Sigma(SampleRandom& random) { return 0.1F + random.Real() * 1.9F; }

void Blur(SampleRandom& random, Pixels& pixels) {
  BlurScratch scratch;
  GaussianBlur(Sigma(random), {pixels, kSide}, scratch);
}

TEST(AugmenterTest, TurnsGraysAndBlursAsDocumented) {
  constexpr AugmentOptions kOptions{
      .vertical_flip = true, .grayscale = 0.4F, .blur = 0.6F};
  const Pixels original = AugmentImage("noise", kSide);
  int unchanged = 0;
  for (std::uint64_t i = 0; i < 60; ++i) {
    Pixels expected = original;
    if (DrawsFrom(Key(i), 64).Real() < 0.5F) {
      for (int row = 0; row < kSide; ++row) {
        std::copy_n(original.begin() + row * kSide, kSide,
                    expected.end() - (row + 1) * kSide);
      }
    }
    if (DrawsFrom(Key(i), 65).Real() < kOptions.grayscale) {
      JitterSaturation(0, expected);
    }
    if (SampleRandom random = DrawsFrom(Key(i), 66);
        random.Real() < kOptions.blur) {
      Blur(random, expected);
    }
    ASSERT_EQ(Augmented(kOptions, Key(i)), expected) << i;
    unchanged += expected == original ? 1 : 0;
  }
  EXPECT_GT(unchanged, 0);
  EXPECT_LT(unchanged, 20);
}

// DINO's and SimCLR's: RandomApply([ColorJitter(...)], p=0.8), and so on.
TEST(AugmenterTest, JittersAndSolarizesAsDocumented) {
  constexpr AugmentOptions kOptions{.brightness = 0.4F,
                                    .contrast = 0.4F,
                                    .saturation = 0.2F,
                                    .hue = 0.1F,
                                    .jitter_probability = 0.6F,
                                    .blur = 0.5F,
                                    .solarize = 0.3F,
                                    .erasing = 0.5F};
  int jittered = 0;
  int solarized = 0;
  for (std::uint64_t i = 0; i < 100; ++i) {
    Pixels expected = AugmentImage("noise", kSide);
    if (DrawsFrom(Key(i), 67).Real() < kOptions.jitter_probability) {
      SampleRandom random = DrawsFrom(Key(i), 0);
      ApplyJitter(DrawJitter(kOptions, random), expected);
      ++jittered;
    }
    if (SampleRandom random = DrawsFrom(Key(i), 66);
        random.Real() < kOptions.blur) {
      Blur(random, expected);
    }
    if (DrawsFrom(Key(i), 68).Real() < kOptions.solarize) {
      Solarize(128, expected);
      ++solarized;
    }
    SampleRandom erasing = DrawsFrom(Key(i), 2);
    if (const auto window = DrawErasing(kOptions.erasing, kSide, erasing)) {
      FillWindow(*window, 0, {expected, kSide});
    }
    ASSERT_EQ(Augmented(kOptions, Key(i)), expected) << i;
  }
  EXPECT_NEAR(jittered, 60, 20);
  EXPECT_NEAR(solarized, 30, 20);
}

TEST(AugmenterTest, AJitterIsTheSameWhateverItsProbability) {
  AugmentOptions often = kAll;
  often.jitter_probability = 1 - 0x1p-20F;
  AugmentOptions never = kAll;
  never.jitter_probability = 0;
  AugmentOptions without = kAll;
  without.brightness = without.contrast = without.saturation = without.hue = 0;
  for (std::uint64_t i = 0; i < 50; ++i) {
    ASSERT_EQ(Augmented(often, Key(i)), Augmented(kAll, Key(i))) << i;
    ASSERT_EQ(Augmented(never, Key(i)), Augmented(without, Key(i))) << i;
  }
}

TEST(AugmenterTest, ErasesToNoiseOrTheMeanColour) {
  for (const ErasingMode mode : {ErasingMode::kPixel, ErasingMode::kMean}) {
    Pixels expected = AugmentImage("noise", kSide);
    SampleRandom random = DrawsFrom(Key(3), 2);
    const auto window = DrawErasing(1, kSide, random);
    ASSERT_TRUE(window.has_value());
    SampleRandom noise = DrawsFrom(Key(3), 1024);
    if (mode == ErasingMode::kPixel) {
      FillWithNoise(*window, {expected, kSide}, noise);
    } else {
      FillWindow(*window, PackPixel(124, 116, 104), {expected, kSide});
    }
    EXPECT_EQ(Augmented({.erasing = 1, .erasing_mode = mode}, Key(3)),
              expected);
    EXPECT_NE(expected, AugmentImage("noise", kSide));
  }
}

TEST(AugmenterTest, JittersThenAppliesThePolicyThenErases) {
  int erased = 0;
  for (std::uint64_t i = 0; i < 50; ++i) {
    Pixels expected = AugmentImage("noise", kSide);
    SampleRandom jitter = DrawsFrom(Key(i), 0);
    ApplyJitter(DrawJitter(kAll, jitter), expected);
    RandAugmentByHand(kAll, Key(i), expected);
    SampleRandom erasing = DrawsFrom(Key(i), 2);
    if (const auto window = DrawErasing(kAll.erasing, kSide, erasing)) {
      FillWindow(*window, 0, {expected, kSide});
      ++erased;
    }
    ASSERT_EQ(Augmented(kAll, Key(i)), expected) << i;
  }
  EXPECT_GT(erased, 0);
}

TEST(AugmenterTest, ImagesLeaveNothingBehind) {
  Augmenter used(kAll, kSide);
  for (std::uint64_t i = 0; i < 50; ++i) {
    Pixels pixels = AugmentImage("noise", kSide);
    used.Apply(pixels, Key(i));
    ASSERT_EQ(pixels, Augmented(kAll, Key(i))) << i;
  }
}

TEST(AugmenterTest, RefusesOptionsOutOfTheirRange) {
  EXPECT_THAT(MessageOf<UsageError>([] { Augmenter({.layers = 0}, kSide); }),
              testing::HasSubstr("augment layers is 0: give"));
}

TEST(AugmenterDeathTest, TakesWholeImages) {
  Augmenter augmenter(kRand, kSide);
  Pixels pixels(std::size_t{kSide} * kSide - 1);
  EXPECT_DEATH(augmenter.Apply(pixels, {}), "pixels are those of one image");
}

}  // namespace infeed::augment_test

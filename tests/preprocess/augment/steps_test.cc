#include "preprocess/augment/steps.h"

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "preprocess/augment/pillow_ops.h"
#include "tests/support/matchers.h"

namespace infeed::steps_test {

constexpr ImageSize kSize(24, 32);

SampleKey Key(std::uint64_t position) {
  return {.seed = 5, .epoch = 2, .position = position};
}

std::vector<std::string> Texts(const AugmentOptions& options,
                               const SampleKey& key) {
  std::vector<AugmentStep> steps;
  DrawAugmentation(options, kSize, key, steps);
  EXPECT_LE(steps.size(), MostAugmentSteps(options));
  std::vector<std::string> texts;
  for (const AugmentStep& step : steps) {
    texts.push_back(AugmentStepText(step));
  }
  return texts;
}

SampleRandom DrawsFrom(const SampleKey& key, std::uint32_t block) {
  return SampleRandom(key, RandomStream::kAugmentation, block);
}

TEST(DrawAugmentationTest, IsEmptyUnlessSomethingIsOn) {
  EXPECT_THAT(Texts({}, Key(1)), IsEmpty());
  std::vector<AugmentStep> steps = {GrayStep()};
  DrawAugmentation({}, kSize, Key(1), steps);
  EXPECT_THAT(steps, IsEmpty());
}

TEST(DrawAugmentationTest, StepsComeInTheirOrder) {
  EXPECT_THAT(
      Texts({.policy = AugmentPolicy::kAutoAugment, .grayscale = 1}, Key(0))
          .back(),
      "Grayscale");
  // The first key that is turned upside down.
  std::uint64_t position = 0;
  while (DrawsFrom(Key(position), 64).Real() >= 0.5F) {
    ++position;
  }
  EXPECT_THAT(
      Texts({.brightness = 0.4F,
             .vertical_flip = true,
             .grayscale = 1,
             .blur = 1,
             .solarize = 1},
            Key(position)),
      ElementsAre("VerticalFlip",
                  MatchesRegex("ColorJitter brightness [01]\\.?[0-9]*"),
                  "Grayscale", MatchesRegex("GaussianBlur [0-2]\\.?[0-9]*"),
                  "Solarize 128"));
}

TEST(DrawAugmentationTest, OperationsAreTheDrawnOnes) {
  constexpr AugmentOptions kOptions{.policy = AugmentPolicy::kRandAugment};
  for (std::uint64_t i = 0; i < 100; ++i) {
    const std::vector<std::string> texts = Texts(kOptions, Key(i));
    ASSERT_THAT(texts, SizeIs(2));
    for (std::uint32_t layer = 0; layer < 2; ++layer) {
      SampleRandom random = DrawsFrom(Key(i), 8 + layer);
      const auto op = static_cast<AugmentOp>(random.Below(16));
      const std::string sign = random.Below(2) == 1 ? "-" : "";
      const std::string row = std::to_string(random.Below(24));
      const std::string column = std::to_string(random.Below(32));
      std::string text(ChoiceName(op, kAugmentOpNames));
      text += op == AugmentOp::kRotate        ? " " + sign + "30"
              : op == AugmentOp::kShearX      ? " " + sign + "0.3"
              : op == AugmentOp::kShearY      ? " " + sign + "0.3"
              : op == AugmentOp::kTranslateX  ? " " + sign + "100"
              : op == AugmentOp::kTranslateY  ? " " + sign + "100"
              : op == AugmentOp::kPosterize   ? " 4"
              : op == AugmentOp::kSolarize    ? " 256"
              : op == AugmentOp::kSolarizeAdd ? " 110"
              : op == AugmentOp::kCutout      ? " 40 at " + row + " " + column
              : op == AugmentOp::kAutoContrast || op == AugmentOp::kEqualize ||
                      op == AugmentOp::kInvert
                  ? ""
                  : " 1.9";
      EXPECT_EQ(texts[layer], text) << i;
    }
  }
}

TEST(DrawAugmentationTest, LeavesOutWhatChangesNothing) {
  constexpr AugmentOptions kOptions{.policy = AugmentPolicy::kTrivialAugment};
  int identities = 0;
  for (std::uint64_t i = 0; i < 200; ++i) {
    SampleRandom random = DrawsFrom(Key(i), 8);
    const PillowStep step = DrawTrivialAugment(random);
    if (step.op == PillowOp::kIdentity) {
      EXPECT_THAT(Texts(kOptions, Key(i)), IsEmpty());
      ++identities;
    } else {
      EXPECT_EQ(Texts(kOptions, Key(i)),
                std::vector{AugmentStepText(AugmentStep(step))});
    }
  }
  EXPECT_GT(identities, 0);
}

TEST(AugmentStepTextTest, HasTheStrengths) {
  EXPECT_EQ(AugmentStepText(
                PillowStep{.op = PillowOp::kRotate, .argument = -13.50004}),
            "Rotate -13.5");
  EXPECT_EQ(AugmentStepText(
                PillowStep{.op = PillowOp::kTranslateX, .argument = -0.0}),
            "TranslateX 0");
  EXPECT_EQ(AugmentStepText(PillowStep{.op = PillowOp::kEqualize}), "Equalize");
  EXPECT_EQ(AugmentStepText(Jitter{
                .order = {JitterKind::kHue, JitterKind::kContrast,
                          JitterKind::kSaturation, JitterKind::kBrightness},
                .factors = {1.25F, 0.5F, 1, -0.125F}}),
            "ColorJitter hue -0.125 contrast 0.5 brightness 1.25");
  EXPECT_EQ(AugmentStepText(ErasingStep{
                .window = {.y = 3, .x = 5, .height = 40, .width = 20},
                .mode = ErasingMode::kMean,
                .noise = SampleRandom(Key(0), RandomStream::kAugmentation)}),
            "RandomErasing mean 3 5 40 20");
}

std::uint64_t HashOf(const AugmentStep& step) {
  HashChain hash;
  AddStep(step, hash);
  return hash.hash();
}

TEST(AddStepTest, StepsOfOtherKindsAndStrengthsDiffer) {
  const SampleRandom noise(Key(0), RandomStream::kAugmentation);
  const ErasingStep noisy = {
      .window = {.y = 3, .x = 5, .height = 4, .width = 2},
      .mode = ErasingMode::kPixel,
      .noise = noise};
  ErasingStep other_noise = noisy;
  (void)other_noise.noise.Word();
  ErasingStep mean = noisy;
  mean.mode = ErasingMode::kMean;
  const Jitter hue = {
      .order = {JitterKind::kHue, JitterKind::kContrast,
                JitterKind::kSaturation, JitterKind::kBrightness},
      .factors = {1, 1, 1, -0.125F}};
  Jitter contrast = hue;
  contrast.factors[1] = 0.5F;
  const std::set<std::uint64_t> hashes = {
      HashOf(UpsideDownStep()),
      HashOf(GrayStep()),
      HashOf(SolarizeStep()),
      HashOf(BlurStep{1}),
      HashOf(BlurStep{1.5F}),
      HashOf(PillowStep{.op = PillowOp::kRotate, .argument = 3}),
      HashOf(PillowStep{.op = PillowOp::kRotate, .argument = -3}),
      HashOf(PillowStep{.op = PillowOp::kColor, .argument = 3}),
      HashOf(noisy),
      HashOf(other_noise),
      HashOf(mean),
      HashOf(hue),
      HashOf(contrast)};
  EXPECT_EQ(hashes.size(), 13U);
}

}  // namespace infeed::steps_test

#include "preprocess/augment/steps.h"

#include <array>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "base/choices.h"
#include "preprocess/augment/erasing.h"
#include "preprocess/augment/pillow_ops.h"

namespace infeed {
namespace {

using Steps = std::vector<AugmentStep>;

// The Philox block at which each part's draws start; steps.h has the table.
constexpr std::uint32_t kJitterBlock = 0;
constexpr std::uint32_t kErasingBlock = 2;
constexpr std::uint32_t kPolicyBlock = 8;
constexpr std::uint32_t kVerticalBlock = 64;
constexpr std::uint32_t kGrayscaleBlock = 65;
constexpr std::uint32_t kBlurBlock = 66;
constexpr std::uint32_t kWhetherJitterBlock = 67;
constexpr std::uint32_t kSolarizeBlock = 68;
constexpr std::uint32_t kTimmBlock = 128;
constexpr std::uint32_t kTimmBlocks = 8;  // of each layer
constexpr std::uint32_t kNoiseBlock = 1024;

SampleRandom DrawsFrom(const SampleKey& key, std::uint32_t block) {
  return SampleRandom(key, RandomStream::kAugmentation, block);
}

OpDraws DrawOp(const ImageSize& size, RandomSource& random) {
  const auto pixel = [&](int length) {
    return static_cast<int>(random.Below(static_cast<std::uint32_t>(length)));
  };
  return {.is_negative = random.Below(2) == 1,
          .row = pixel(size.height),
          .column = pixel(size.width)};
}

float DrawSigma(RandomSource& random) {
  constexpr float kLeast = 0.1F;
  constexpr float kMost = 2;
  return kLeast + random.Real() * (kMost - kLeast);
}

void AddPillowStep(const PillowStep& step, Steps& steps) {
  if (step.op != PillowOp::kIdentity) {
    steps.emplace_back(step);
  }
}

PillowStep WithFilter(PillowStep step, MoveFilter filter) {
  step.filter = filter;
  return step;
}

// Adds what draw(random) returns for each layer, whose draws begin at block +
// blocks * layer.
void DrawLayers(int layers, std::uint32_t block, std::uint32_t blocks,
                const SampleKey& key, Steps& steps, auto&& draw) {
  for (int layer = 0; layer < layers; ++layer) {
    SampleRandom random = DrawsFrom(key, block);
    AddPillowStep(draw(random), steps);
    block += blocks;
  }
}

void DrawOwnRandAugment(const AugmentOptions& options, const ImageSize& size,
                        const SampleKey& key, Steps& steps) {
  for (int layer = 0; layer < options.layers; ++layer) {
    SampleRandom random =
        DrawsFrom(key, kPolicyBlock + static_cast<std::uint32_t>(layer));
    const auto op = static_cast<AugmentOp>(random.Below(kAugmentOps));
    steps.emplace_back(PolicyOpStep{.op = op,
                                    .level = options.magnitude,
                                    .reach = kRandAugmentReach,
                                    .draws = DrawOp(size, random)});
  }
}

void DrawAutoAugment(const ImageSize& size, const SampleKey& key,
                     Steps& steps) {
  const std::span<const SubPolicy> policy = AutoAugmentPolicy();
  std::uint32_t block = kPolicyBlock;
  const SubPolicy& pair =
      policy[DrawsFrom(key, block)
                 .Below(static_cast<std::uint32_t>(policy.size()))];
  for (const PolicyStep& step : pair) {
    SampleRandom random = DrawsFrom(key, ++block);
    if (random.Real() + step.probability >= 1.0F) {
      steps.emplace_back(PolicyOpStep{.op = step.op,
                                      .level = step.level,
                                      .reach = kAutoAugmentReach,
                                      .draws = DrawOp(size, random)});
    }
  }
}

void DrawPolicy(const AugmentOptions& options, const ImageSize& size,
                const SampleKey& key, Steps& steps) {
  switch (options.policy) {
    case AugmentPolicy::kNone:
      return;
    case AugmentPolicy::kRandAugment:
      return DrawOwnRandAugment(options, size, key, steps);
    case AugmentPolicy::kAutoAugment:
      return DrawAutoAugment(size, key, steps);
    case AugmentPolicy::kTrivialAugment: {
      SampleRandom random = DrawsFrom(key, kPolicyBlock);
      return AddPillowStep(
          WithFilter(DrawTrivialAugment(random), options.interpolation), steps);
    }
    case AugmentPolicy::kTorchvisionRandAugment:
      return DrawLayers(
          options.layers, kPolicyBlock, 1, key, steps, [&](auto& random) {
            return WithFilter(DrawRandAugment(options.magnitude, size, random),
                              options.interpolation);
          });
    case AugmentPolicy::kTimmRandAugment:
      return DrawLayers(options.layers, kTimmBlock, kTimmBlocks, key, steps,
                        [&](auto& random) {
                          return DrawTimmRandAugment(options.magnitude,
                                                     options.magnitude_std,
                                                     size, random);
                        });
  }
}

void DrawErasingStep(const AugmentOptions& options, const ImageSize& size,
                     const SampleKey& key, Steps& steps) {
  SampleRandom random = DrawsFrom(key, kErasingBlock);
  if (const std::optional<Window> window =
          DrawErasing(options.erasing, size, random)) {
    steps.emplace_back(ErasingStep{.window = *window,
                                   .mode = options.erasing_mode,
                                   .noise = DrawsFrom(key, kNoiseBlock)});
  }
}

constexpr Choices<PillowOp, 16> kPillowOpNames = {
    {{"Identity", PillowOp::kIdentity},
     {"ShearX", PillowOp::kShearX},
     {"ShearY", PillowOp::kShearY},
     {"TranslateX", PillowOp::kTranslateX},
     {"TranslateY", PillowOp::kTranslateY},
     {"Rotate", PillowOp::kRotate},
     {"Brightness", PillowOp::kBrightness},
     {"Color", PillowOp::kColor},
     {"Contrast", PillowOp::kContrast},
     {"Sharpness", PillowOp::kSharpness},
     {"Posterize", PillowOp::kPosterize},
     {"Solarize", PillowOp::kSolarize},
     {"AutoContrast", PillowOp::kAutoContrast},
     {"Equalize", PillowOp::kEqualize},
     {"Invert", PillowOp::kInvert},
     {"SolarizeAdd", PillowOp::kSolarizeAdd}}};

constexpr std::array<std::string_view, 4> kJitterNames = {
    "brightness", "contrast", "saturation", "hue"};  // by JitterKind

// " -0.1235".
std::string Strength(double value) {
  constexpr int kDigits = 4;
  std::array<char, 32> text{};
  const auto [end, error] =
      std::to_chars(text.data(), text.data() + text.size(),
                    value + 0.0,  // no negative zero
                    std::chars_format::general, kDigits);
  return " " + std::string(text.data(), end);
}

// An operation of a policy, with its argument if it has one.
std::string OpText(std::string_view name, double argument) {
  const bool has_none =
      name == "AutoContrast" || name == "Equalize" || name == "Invert";
  return std::string(name) + (has_none ? "" : Strength(argument));
}

struct StepText {
  std::string operator()(const UpsideDownStep& /*step*/) const {
    return "VerticalFlip";
  }
  std::string operator()(const Jitter& jitter) const {
    std::string text = "ColorJitter";
    for (const JitterKind kind : jitter.order) {
      const auto number = static_cast<std::size_t>(kind);
      if (jitter.changes(kind)) {
        text += " " + std::string(kJitterNames[number]) +
                Strength(static_cast<double>(jitter.factors[number]));
      }
    }
    return text;
  }
  std::string operator()(const PolicyOpStep& step) const {
    std::string text =
        OpText(ChoiceName(step.op, kAugmentOpNames),
               AugmentArgument(step.op, step.level, step.reach, step.draws));
    if (step.op == AugmentOp::kCutout) {
      text += " at" + Strength(step.draws.row) + Strength(step.draws.column);
    }
    return text;
  }
  std::string operator()(const PillowStep& step) const {
    return OpText(ChoiceName(step.op, kPillowOpNames), step.argument);
  }
  std::string operator()(const GrayStep& /*step*/) const { return "Grayscale"; }
  std::string operator()(const BlurStep& step) const {
    return "GaussianBlur" + Strength(static_cast<double>(step.sigma));
  }
  std::string operator()(const SolarizeStep& /*step*/) const {
    return "Solarize" + Strength(kSolarizeThreshold);
  }
  std::string operator()(const ErasingStep& step) const {
    const auto& [y, x, height, width] = step.window;
    return "RandomErasing " +
           std::string(ChoiceName(step.mode, kErasingModes)) + Strength(y) +
           Strength(x) + Strength(height) + Strength(width);
  }
};

struct StepAdder {
  HashChain& hash;

  void operator()(const UpsideDownStep& /*step*/) const {}
  void operator()(const Jitter& jitter) const {
    for (const JitterKind kind : jitter.order) {
      if (jitter.changes(kind)) {
        hash.Add(kind).Add(jitter.factors[static_cast<std::size_t>(kind)]);
      }
    }
  }
  void operator()(const PolicyOpStep& step) const {
    hash.Add(step.op).Add(step.level);
    hash.Add(step.reach.translate).Add(step.reach.cutout);
    hash.Add(step.draws.is_negative);
    hash.Add(step.draws.row).Add(step.draws.column);
  }
  void operator()(const PillowStep& step) const {
    // In single precision: mathematical functions differ in the last bits.
    hash.Add(step.op).Add(static_cast<float>(step.argument));
    hash.Add(step.filter).Add(step.outside);
  }
  void operator()(const GrayStep& /*step*/) const {}
  void operator()(const BlurStep& step) const { hash.Add(step.sigma); }
  void operator()(const SolarizeStep& /*step*/) const {}
  void operator()(const ErasingStep& step) const {
    const auto& [y, x, height, width] = step.window;
    hash.Add(y).Add(x).Add(height).Add(width).Add(step.mode);
    if (step.mode == ErasingMode::kPixel) {
      SampleRandom noise = step.noise;
      hash.Add(noise.Word());
    }
  }
};

}  // namespace

std::size_t MostAugmentSteps(const AugmentOptions& options) {
  constexpr std::size_t kOthers = 6;  // of which each comes once at most
  constexpr std::size_t kPair = 2;    // AutoAugment
  return kOthers + kPair + static_cast<std::size_t>(options.layers);
}

bool IsUpsideDown(const AugmentOptions& options, const SampleKey& key) {
  return options.vertical_flip && DrawsFrom(key, kVerticalBlock).Real() < 0.5F;
}

void DrawAugmentation(const AugmentOptions& options, const ImageSize& size,
                      const SampleKey& key, Steps& steps) {
  const auto draw = [&](std::uint32_t block, float probability) {
    return probability > 0 && DrawsFrom(key, block).Real() < probability;
  };
  steps.clear();
  if (IsUpsideDown(options, key)) {
    steps.emplace_back(UpsideDownStep());
  }
  if (options.has_jitter() &&
      draw(kWhetherJitterBlock, options.jitter_probability)) {
    SampleRandom random = DrawsFrom(key, kJitterBlock);
    steps.emplace_back(DrawJitter(options, random));
  }
  DrawPolicy(options, size, key, steps);
  if (draw(kGrayscaleBlock, options.grayscale)) {
    steps.emplace_back(GrayStep());
  }
  if (SampleRandom random = DrawsFrom(key, kBlurBlock);
      random.Real() < options.blur) {
    steps.emplace_back(BlurStep{DrawSigma(random)});
  }
  if (draw(kSolarizeBlock, options.solarize)) {
    steps.emplace_back(SolarizeStep());
  }
  if (options.erasing > 0) {
    DrawErasingStep(options, size, key, steps);
  }
}

std::string AugmentStepText(const AugmentStep& step) {
  return std::visit(StepText(), step);
}

void AddStep(const AugmentStep& step, HashChain& hash) {
  hash.Add(step.index());
  std::visit(StepAdder{hash}, step);
}

}  // namespace infeed

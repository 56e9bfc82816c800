#include "preprocess/augment/options.h"

#include <limits>
#include <utility>

#include "base/error.h"
#include "tests/support/matchers.h"
#include "tests/support/throws.h"

namespace infeed {
namespace {

TEST(AugmentOptionsTest, TakesTheEndsOfEachRange) {
  CheckAugmentOptions({});
  CheckAugmentOptions({.layers = 16,
                       .magnitude = 30,
                       .brightness = 10,
                       .contrast = 10,
                       .saturation = 10,
                       .hue = 0.5F,
                       .solarize = 1,
                       .erasing = 1});
  CheckAugmentOptions({.layers = 1, .magnitude = 0, .jitter_probability = 0});
}

TEST(AugmentOptionsTest, NamesTheFieldThatIsOutOfRange) {
  const std::pair<AugmentOptions, const char*> rows[] = {
      {{.layers = 17}, "augment layers is 17"},
      {{.magnitude = 31}, "augment magnitude is 31"},
      {{.magnitude = -1}, "augment magnitude is -1"},
      {{.magnitude_std = 10.5F}, "augment magnitude_std is 10.5"},
      {{.brightness = -0.1F}, "brightness is -0.1"},
      {{.contrast = 11}, "contrast is 11"},
      {{.saturation = std::numeric_limits<float>::quiet_NaN()},
       "saturation is nan"},
      {{.hue = 0.6F}, "hue is 0.6"},
      {{.jitter_probability = 1.1F}, "jitter_probability is 1.1"},
      {{.jitter_probability = -0.1F}, "jitter_probability is -0.1"},
      {{.solarize = 1.1F}, "solarize is 1.1"},
      {{.erasing = 1.1F}, "erasing is 1.1"}};
  for (const auto& [options, message] : rows) {
    EXPECT_THAT(MessageOf<UsageError>([&] { CheckAugmentOptions(options); }),
                HasSubstr(message));
  }
}

TEST(AugmentOptionsTest, IsOnWhereAnythingIs) {
  EXPECT_FALSE(AugmentOptions{}.is_any_on());
  EXPECT_FALSE((AugmentOptions{.layers = 3, .magnitude = 5}.is_any_on()));
  EXPECT_FALSE(
      (AugmentOptions{.hue = 0.1F, .jitter_probability = 0}.is_any_on()));
  const auto expect_on = [](const AugmentOptions& options, bool is_jitter) {
    EXPECT_TRUE(options.is_any_on());
    EXPECT_EQ(options.has_jitter(), is_jitter);
  };
  expect_on({.policy = AugmentPolicy::kRandAugment}, false);
  expect_on({.policy = AugmentPolicy::kAutoAugment}, false);
  expect_on({.solarize = 0.1F}, false);
  expect_on({.erasing = 0.1F}, false);
  expect_on({.brightness = 0.1F}, true);
  expect_on({.contrast = 0.1F}, true);
  expect_on({.saturation = 0.1F}, true);
  expect_on({.hue = 0.1F}, true);
}

}  // namespace
}  // namespace infeed

#include "preprocess/augment/options.h"

#include <limits>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"

namespace infeed {
namespace {

auto Refuses(const std::string& why) {
  return testing::ThrowsMessage<UsageError>(testing::HasSubstr(why));
}

TEST(AugmentOptionsTest, ParsesPolicies) {
  for (const AugmentPolicy policy :
       {AugmentPolicy::kNone, AugmentPolicy::kRandAugment,
        AugmentPolicy::kAutoAugment, AugmentPolicy::kTrivialAugment,
        AugmentPolicy::kTorchvisionRandAugment,
        AugmentPolicy::kTimmRandAugment}) {
    EXPECT_EQ(ParseChoice("augment", ChoiceName(policy, kAugmentPolicies),
                          kAugmentPolicies),
              policy);
  }
  EXPECT_THAT([] { (void)ParseChoice("augment", "trivial", kAugmentPolicies); },
              Refuses("augment is \"trivial\": give none, randaugment, "
                      "autoaugment, trivialaugment, "
                      "torchvision_randaugment or timm_randaugment"));
}

TEST(AugmentOptionsTest, TakesTheEndsOfEachRange) {
  CheckAugmentOptions({});
  CheckAugmentOptions({.layers = 16,
                       .magnitude = 30,
                       .brightness = 10,
                       .contrast = 10,
                       .saturation = 10,
                       .hue = 0.5F,
                       .erasing = 1});
  CheckAugmentOptions({.layers = 1, .magnitude = 0});
}

TEST(AugmentOptionsTest, NamesTheFieldThatIsOutOfRange) {
  const auto check = [](const AugmentOptions& options) {
    return [options] { CheckAugmentOptions(options); };
  };
  EXPECT_THAT(check({.layers = 17}), Refuses("augment layers is 17"));
  EXPECT_THAT(check({.magnitude = 31}), Refuses("augment magnitude is 31"));
  EXPECT_THAT(check({.magnitude = -1}), Refuses("augment magnitude is -1"));
  EXPECT_THAT(check({.magnitude_std = 10.5F}),
              Refuses("augment magnitude_std is 10.5"));
  EXPECT_THAT(check({.brightness = -0.1F}), Refuses("brightness is -0.1"));
  EXPECT_THAT(check({.contrast = 11}), Refuses("contrast is 11"));
  EXPECT_THAT(check({.saturation = std::numeric_limits<float>::quiet_NaN()}),
              Refuses("saturation is nan"));
  EXPECT_THAT(check({.hue = 0.6F}), Refuses("hue is 0.6"));
  EXPECT_THAT(check({.erasing = 1.1F}), Refuses("erasing is 1.1"));
}

TEST(AugmentOptionsTest, IsOnWhereAnythingIs) {
  EXPECT_FALSE(AugmentOptions{}.is_any_on());
  EXPECT_FALSE((AugmentOptions{.layers = 3, .magnitude = 5}.is_any_on()));
  const auto expect_on = [](const AugmentOptions& options, bool is_jitter) {
    EXPECT_TRUE(options.is_any_on());
    EXPECT_EQ(options.has_jitter(), is_jitter);
  };
  expect_on({.policy = AugmentPolicy::kRandAugment}, false);
  expect_on({.policy = AugmentPolicy::kAutoAugment}, false);
  expect_on({.erasing = 0.1F}, false);
  expect_on({.brightness = 0.1F}, true);
  expect_on({.contrast = 0.1F}, true);
  expect_on({.saturation = 0.1F}, true);
  expect_on({.hue = 0.1F}, true);
}

}  // namespace
}  // namespace infeed

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/atomic_file.h"
#include "base/choices.h"
#include "preprocess/augment/augment.h"
#include "preprocess/pixels/image_size.h"
#include "tests/support/augment_images.h"
#include "tests/support/each_target.h"

// What torchvision's and timm's policies make of images, given the same draws;
// tests/data/README.augment.md says how.
namespace infeed {
namespace policy_golden_test {

struct PolicyGolden {
  std::string policy;
  int magnitude = 0;
  std::string image;
  ImageSize size;
  std::uint64_t position = 0;
  std::string hash;
};

std::vector<PolicyGolden> ReadPolicyGoldens() {
  std::ifstream file(INFEED_TEST_DATA "/policy_goldens.txt");
  std::string line;
  std::getline(file, line);  // Versions.
  std::vector<PolicyGolden> goldens;
  std::string size;
  for (PolicyGolden golden; file >> golden.policy >> golden.magnitude >>
                            golden.image >> size >> golden.position >>
                            golden.hash;) {
    golden.size = ParseImageSize(size).value();
    goldens.push_back(golden);
  }
  return goldens;
}

AugmentOptions OptionsOf(const PolicyGolden& golden) {
  const bool has_noise =
      golden.policy == "timm_randaugment" && golden.magnitude == 7;
  const std::size_t slash = golden.policy.find('/');
  return {.policy = ParseChoice("augment", golden.policy.substr(0, slash),
                                kAugmentPolicies),
          .magnitude = golden.magnitude,
          .magnitude_std = has_noise ? 0.5F : 0.0F,
          .interpolation =
              slash == std::string::npos
                  ? MoveFilter::kNearest
                  : ParseChoice("augment_interpolation",
                                golden.policy.substr(slash + 1), kMoveFilters)};
}

std::string HashOf(const PolicyGolden& golden) {
  std::vector<std::uint32_t> pixels = AugmentImage(golden.image, golden.size);
  Augmenter(OptionsOf(golden), golden.size)
      .Apply(pixels, {.seed = 5, .epoch = 2, .position = golden.position});
  return Fnv1a64(RgbBytes(pixels));
}

TEST(PolicyGoldenTest, EveryImageHasTheOtherLibrarysBytes) {
  const std::vector<PolicyGolden> goldens = ReadPolicyGoldens();
  OnEachSimdTarget([&] {
    std::map<std::string, int> compared;
    for (const PolicyGolden& golden : goldens) {
      EXPECT_EQ(HashOf(golden), golden.hash)
          << golden.policy << " " << golden.magnitude << " of " << golden.image
          << " " << golden.size << ", position " << golden.position;
      ++compared[golden.policy];
    }
    EXPECT_EQ(compared.size(), 7U);
    for (const auto& [policy, count] : compared) {
      EXPECT_GE(count, 180) << policy;
    }
  });
}

// Moves are in double precision here, in single precision there, so a level
// halfway between two may round the other way, which a later operation can
// enlarge.
TEST(PolicyGoldenTest, AugMixIsNearTorchvisions) {
  constexpr int kSide = 24;
  const std::string expected =
      ReadWholeFile(INFEED_TEST_DATA "/augmix.rgb", 1 << 20);
  OnEachSimdTarget([&] {
    std::string actual;
    for (const int severity : {3, 10}) {
      Augmenter augmenter(
          {.policy = AugmentPolicy::kAugMix, .severity = severity}, kSide);
      for (std::uint64_t i = 0; i < 30; ++i) {
        std::vector<std::uint32_t> pixels =
            AugmentImage(i % 2 == 1 ? "noise" : "soft", kSide);
        augmenter.Apply(pixels, {.seed = 5, .epoch = 2, .position = i});
        actual += RgbBytes(pixels);
      }
    }
    ASSERT_EQ(actual.size(), expected.size());
    std::size_t differing = 0;
    int far = 0;
    for (std::size_t i = 0; i < actual.size(); ++i) {
      const int difference = std::abs(static_cast<unsigned char>(actual[i]) -
                                      static_cast<unsigned char>(expected[i]));
      differing += difference > 0 ? 1U : 0U;
      far += difference > 1 ? 1 : 0;
    }
    EXPECT_LE(differing, actual.size() / 400);
    EXPECT_LE(far, 5);
  });
}

}  // namespace policy_golden_test
}  // namespace infeed

#include <cstdint>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/choices.h"
#include "preprocess/augment/augment.h"
#include "preprocess/pixels/image_size.h"
#include "tests/support/augment_images.h"
#include "tests/support/each_target.h"

// Compares with the images of torchvision's and timm's policies, given the same
// draws; tests/data/README.augment.md has the method.
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

}  // namespace policy_golden_test
}  // namespace infeed

#include <cstdint>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/choices.h"
#include "preprocess/augment/augment.h"
#include "preprocess/augment/operation.h"
#include "preprocess/pixels/image_size.h"
#include "tests/support/augment_images.h"
#include "tests/support/each_target.h"

// Images of other libraries; tests/data/README.augment.md has the methods.
namespace infeed::golden_test {

struct Golden {
  std::string image;
  int side = 0;
  std::string op;
  int level = 0;
  int sign = 0;
  std::string hash;
};

std::vector<Golden> ReadGoldens() {
  std::ifstream file(INFEED_TEST_DATA "/augment_goldens.txt");
  std::string line;
  std::getline(file, line);  // Versions.
  std::vector<Golden> goldens;
  for (Golden golden; file >> golden.image >> golden.side >> golden.op >>
                      golden.level >> golden.sign >> golden.hash;) {
    goldens.push_back(golden);
  }
  return goldens;
}

std::string HashOf(const Golden& golden, OpScratch& scratch) {
  std::vector<std::uint32_t> pixels = AugmentImage(golden.image, golden.side);
  if (golden.op != "Identity") {
    ApplyAugmentOp(ParseChoice("operation", golden.op, kAugmentOpNames),
                   golden.level, kRandAugmentReach,
                   {.is_negative = golden.sign < 0}, {pixels, golden.side},
                   scratch);
  }
  return Fnv1a64(RgbBytes(pixels));
}

TEST(AugmentGoldenTest, EveryOperationGivesTensorFlowsBytes) {
  const std::vector<Golden> goldens = ReadGoldens();
  OnEachSimdTarget([&] {
    OpScratch scratch;
    std::map<std::string, int> compared;
    for (const Golden& golden : goldens) {
      EXPECT_EQ(HashOf(golden, scratch), golden.hash)
          << golden.op << " " << golden.level << " " << golden.sign << " of "
          << golden.image << " " << golden.side;
      ++compared[golden.op];
    }
    // All but Cutout, which TensorFlow has no part in; and the images.
    EXPECT_EQ(compared.size(), kAugmentOps);
    for (const auto& [op, count] : compared) {
      EXPECT_GE(count, 8) << op;
    }
  });
}

// Of torchvision's and timm's policies, given the same draws.
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
  while (std::getline(file, line)) {
    std::istringstream words(line);
    PolicyGolden golden;
    std::string size;
    words >> golden.policy >> golden.magnitude >> golden.image >> size;
    golden.size = ParseImageSize(size).value();
    for (; words >> golden.hash; ++golden.position) {
      goldens.push_back(golden);
    }
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
  ASSERT_EQ(goldens.size(), 6890U);
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

// The sums of the published table.
TEST(AugmentPolicyTest, HasThePairsOfAutoAugment) {
  EXPECT_EQ(AutoAugmentPolicy().size(), 25U);
  double probability = 0;
  int level = 0;
  std::array<int, kAugmentOps> uses{};
  for (const SubPolicy& pair : AutoAugmentPolicy()) {
    for (const PolicyStep& step : pair) {
      probability += step.probability;
      level += step.level;
      ++uses[static_cast<std::size_t>(step.op)];
    }
  }
  EXPECT_NEAR(probability, 29.8, 1e-4);
  EXPECT_EQ(level, 240);
  EXPECT_THAT(uses, testing::ElementsAre(2, 12, 1, 7, 2, 8, 2, 9, 0, 0, 0, 2, 4,
                                         0, 1, 0));
}

}  // namespace infeed::golden_test

#include <cstdint>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "preprocess/augment/operation.h"
#include "tests/support/augment_images.h"
#include "tests/support/each_target.h"

// Compares with TensorFlow's images; tests/data/README.augment.md has the
// method.
namespace infeed {
namespace golden_test {

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

}  // namespace golden_test
}  // namespace infeed

#include "preprocess/recipe/eval_view.h"

#include <array>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace infeed {
namespace {

using testing::ElementsAre;

// {y, x, mirrored} of each crop of an image of 20 x 11 with a square of 8,
// whose centre is (6, 1).
std::vector<std::array<int, 3>> Places(int crops) {
  std::vector<std::array<int, 3>> places;
  for (int i = 0; i < crops; ++i) {
    const EvalView view(crops, static_cast<std::uint64_t>(3 * crops + i));
    places.push_back(
        {view.PlaceY(20, 8, 6), view.PlaceX(11, 8, 1), view.is_mirrored()});
  }
  return places;
}

using Place = std::array<int, 3>;

TEST(EvalViewTest, OneCropIsTheCentre) {
  EXPECT_THAT(Places(1), ElementsAre(Place{6, 1, 0}));
}

TEST(EvalViewTest, FiveCropsAreTheCornersAndTheCentre) {
  EXPECT_THAT(Places(5),
              ElementsAre(Place{0, 0, 0}, Place{0, 3, 0}, Place{12, 0, 0},
                          Place{12, 3, 0}, Place{6, 1, 0}));
}

// The mirrored image's left is the image's right.
TEST(EvalViewTest, TenCropsIncludeTheMirroredImages) {
  const std::vector<Place> ten = Places(10);
  EXPECT_THAT(std::vector(ten.begin(), ten.begin() + 5),
              testing::ElementsAreArray(Places(5)));
  EXPECT_THAT(std::vector(ten.begin() + 5, ten.end()),
              ElementsAre(Place{0, 3, 1}, Place{0, 0, 1}, Place{12, 3, 1},
                          Place{12, 0, 1}, Place{6, 2, 1}));
}

}  // namespace
}  // namespace infeed

#include "trainer/model/non_finite.h"

#include "gtest/gtest.h"

namespace infeed {
namespace {

TEST(NonFiniteTextTest, NamesThreeOfEachKind) {
  EXPECT_EQ(NonFiniteText({{"weights", "a", 1, 2}}),
            "weights a (1 of 2 values)");
  EXPECT_EQ(NonFiniteText({{"input", "images", 3, 192},
                           {"gradients", "d", 4, 4},
                           {"gradients", "c", 3, 3},
                           {"gradients", "b", 2, 2},
                           {"gradients", "a", 1, 1}}),
            "input images (3 of 192 values); gradients d (4 of 4 values), c (3 "
            "of 3 values), b (2 of 2 values) and 1 more");
  EXPECT_EQ(NonFiniteText({}), "");
}

}  // namespace
}  // namespace infeed

#include "tools/convert/python_shuffle.h"

#include <cstdint>
#include <vector>

#include "tests/support/matchers.h"

namespace infeed {
namespace {

// The vectors are CPython 3.11's: random.seed(s); random.shuffle(range(n)).
TEST(PythonShuffleTest, GivesPythonsOrderForSeedZero) {
  EXPECT_THAT(PythonShuffle(5, 0), ElementsAre(2, 1, 0, 4, 3));
  EXPECT_THAT(PythonShuffle(10, 0), ElementsAre(7, 8, 1, 5, 3, 4, 2, 0, 9, 6));
  EXPECT_THAT(PythonShuffle(20, 0),
              ElementsAre(10, 18, 16, 14, 0, 17, 11, 2, 3, 9, 5, 7, 4, 19, 6,
                          15, 8, 1, 13, 12));
}

TEST(PythonShuffleTest, GivesPythonsOrderForImagenet) {
  std::vector<std::int64_t> order = PythonShuffle(1281167, 0);
  order.resize(10);
  EXPECT_THAT(order, ElementsAre(1082000, 444988, 795600, 317966, 440284, 71498,
                                 65702, 1213218, 1233575, 1063296));
}

TEST(PythonShuffleTest, GivesPythonsOrderForOtherSeeds) {
  EXPECT_THAT(PythonShuffle(10, 1), ElementsAre(6, 8, 9, 7, 5, 3, 0, 4, 1, 2));
  EXPECT_THAT(PythonShuffle(10, (std::uint64_t{1} << 40) + 5),
              ElementsAre(1, 2, 3, 6, 7, 0, 5, 4, 9, 8));
}

TEST(PythonShuffleTest, LeavesNothingAndOneAlone) {
  EXPECT_THAT(PythonShuffle(0, 0), IsEmpty());
  EXPECT_THAT(PythonShuffle(1, 0), ElementsAre(0));
}

}  // namespace
}  // namespace infeed

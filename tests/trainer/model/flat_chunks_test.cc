#include "trainer/model/flat_chunks.h"

#include <array>
#include <vector>

#include "tests/support/matchers.h"

namespace infeed {
namespace {

TEST(FlatChunksTest, CutEachParameterByItself) {
  const std::array<FlatParameter, 3> parameters = {
      {{.begin = 20000, .count = 2 * kFlatChunk + 5},
       {.begin = 0, .count = kFlatChunk, .decayed = false},
       {.begin = 12000, .count = 1}}};
  const FlatPlan plan = MakeFlatPlan(parameters);
  EXPECT_THAT(plan.first_chunks, ElementsAre(0, 3, 4, 5));
  std::vector<std::array<std::int64_t, 4>> chunks;
  for (const FlatChunk& chunk : plan.chunks) {
    chunks.push_back(
        {chunk.begin, chunk.count, chunk.parameter, chunk.decayed});
  }
  using C = std::array<std::int64_t, 4>;
  EXPECT_THAT(chunks, ElementsAre(C{20000, kFlatChunk, 0, 1},
                                  C{20000 + kFlatChunk, kFlatChunk, 0, 1},
                                  C{20000 + 2 * kFlatChunk, 5, 0, 1},
                                  C{0, kFlatChunk, 1, 0}, C{12000, 1, 2, 1}));
}

TEST(FlatChunksTest, NoParametersGiveNoChunks) {
  const FlatPlan plan = MakeFlatPlan({});
  EXPECT_TRUE(plan.chunks.empty());
  EXPECT_THAT(plan.first_chunks, ElementsAre(0));
}

TEST(FlatChunksTest, BeginWhereAThreadMayLoad) {
  EXPECT_EQ(AlignFlat(0), 0);
  EXPECT_EQ(AlignFlat(1), 4);
  EXPECT_EQ(AlignFlat(4), 4);
  EXPECT_EQ(AlignFlat(4097), 4100);
}

}  // namespace
}  // namespace infeed

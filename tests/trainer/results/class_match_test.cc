#include "tests/support/matchers.h"
#include "trainer/results/model_labels.h"

namespace infeed {
namespace {

using Names = std::vector<std::string>;

TEST(ClassMatchTest, FindsEachClassByItsName) {
  const Names model = {"ant", "bee", "cat"};
  for (const Names& same : {model, Names{"ant", "bee"}, Names{}}) {
    const ClassMatch match = MatchClasses(same, model);
    EXPECT_TRUE(match.fits);
    EXPECT_THAT(match.to_model, IsEmpty());
  }
  EXPECT_TRUE(MatchClasses(model, {}).fits);
  EXPECT_THAT(MatchClasses({"cat", "ant", "bee"}, model).to_model,
              ElementsAre(2, 0, 1));
  EXPECT_THAT(MatchClasses({"bee", "cat"}, model).to_model, ElementsAre(1, 2));
  for (const Names& other :
       {Names{"ant", "bee", "dog"}, Names{"Ant", "bee", "cat"}, Names{"dog"},
        Names{"ant", "bee", "cat", "dog"}}) {
    EXPECT_FALSE(MatchClasses(other, model).fits);
  }
}

TEST(ClassMatchTest, TakesANameThatOccursTwiceOnlyInItsPlace) {
  const Names crane = {"crane", "crane", "dog"};
  EXPECT_TRUE(MatchClasses(crane, crane).fits);
  EXPECT_FALSE(MatchClasses({"dog", "crane", "crane"}, crane).fits);
  EXPECT_FALSE(MatchClasses({"dog", "crane"}, crane).fits);
  EXPECT_FALSE(MatchClasses(crane, {"dog", "crane"}).fits);
}

TEST(ClassMatchTest, ShowsTheFirstNames) {
  EXPECT_EQ(CountedList({"cat", "dog"}), "2 (cat, dog)");
  EXPECT_THAT(CountedList(Names(100, "x")), testing::EndsWith("x, ...)"));
}

}  // namespace
}  // namespace infeed

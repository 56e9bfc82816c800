#include "trainer/log/classes.h"

#include "tests/support/matchers.h"

namespace infeed {
namespace {

EvalResult Perfect(int classes) {
  EvalResult result;
  result.classes = classes;
  const auto side = static_cast<std::size_t>(classes);
  result.confusion.resize(side * side);
  for (std::size_t label = 0; label < side; ++label) {
    result.confusion[label * side + label] = 1;
  }
  return result;
}

TEST(ReportClassesTest, ShowsManyClassesAsAPicture) {
  const ClassCards cards = MakeClassCards(Perfect(100), {});
  EXPECT_THAT(cards.confusion,
              AllOf(HasSubstr("src=\"data:image/png;base64,iVBORw0KGgo"),
                    Not(HasSubstr("<table"))));
  EXPECT_THAT(cards.table, HasSubstr("the worst 25 of 100 classes"));
}

TEST(ReportClassesTest, ShowsFewInNumbers) {
  const ClassCards cards = MakeClassCards(Perfect(3), {});
  EXPECT_THAT(cards.confusion, HasSubstr("<table class=\"heat\">"));
  EXPECT_THAT(cards.table, Not(HasSubstr("the worst")));
}

TEST(ReportClassesTest, TurnsTheNamesOfManyColumnsUpright) {
  const ClassCards few = MakeClassCards(Perfect(8), {"a <b>"});
  EXPECT_THAT(few.confusion,
              AllOf(HasSubstr("<table class=\"heat\">"),
                    HasSubstr("<th>actual \\ predicted</th>"
                              "<th><span>a &lt;b&gt;</span></th>")));
  EXPECT_FALSE(few.are_wide);
  for (const int classes : {9, 50, 51, 1000}) {
    const ClassCards many = MakeClassCards(Perfect(classes), {});
    EXPECT_TRUE(many.are_wide);
    EXPECT_THAT(many.confusion,
                AllOf(HasSubstr("actual \\ predicted"),
                      HasSubstr(classes <= 50 ? "\"heat upright\"" : "<img")));
  }
}

TEST(ReportClassesTest, SaysNothingOfWhatWasNotMeasured) {
  const ClassCards cards = MakeClassCards({}, {});
  EXPECT_EQ(cards.confusion + cards.table + cards.roc, "");
}

}  // namespace
}  // namespace infeed

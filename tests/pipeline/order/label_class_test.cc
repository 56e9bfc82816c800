#include "pipeline/order/label_class.h"

#include <limits>

#include "base/error.h"
#include "tests/support/matchers.h"
#include "tests/support/throws.h"

namespace infeed {
namespace {

TEST(ClassOfTest, CountsFromTheOffset) {
  const InputOptions from_0 = {.label_offset = 0, .num_label_classes = 3};
  const InputOptions from_1 = {.label_offset = 1, .num_label_classes = 3};
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(ClassOf(i, from_0), i);
    EXPECT_EQ(ClassOf(i + 1, from_1), i);
  }
}

TEST(ClassOfTest, SaysWhyThereIsNoClass) {
  const auto why = [](std::int64_t label, const InputOptions& options) {
    return MessageOf<DataError>([&] { (void)ClassOf(label, options); });
  };
  const InputOptions three = {.label_offset = 1, .num_label_classes = 3};
  EXPECT_EQ(why(0, three),
            "image/class/label 0 is below 1, the label of the first class "
            "(label_offset)");
  EXPECT_EQ(why(4, three),
            "image/class/label 4 is beyond the last of 3 classes, whose label "
            "is 3");
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  EXPECT_THAT(why(kMost, three), HasSubstr("beyond the last"));
  EXPECT_THAT(why(kMost, {.label_offset = 0}), HasSubstr("fit 32 bits"));
  EXPECT_THAT(why(std::numeric_limits<std::int64_t>::min(), three),
              HasSubstr("is below 1"));
}

TEST(ClassOfTest, IsNoneWhereLabelsAreNotRequired) {
  const InputOptions options = {
      .label_offset = 1, .num_label_classes = 3, .require_labels = false};
  for (const int label : {-1, 0, 4}) {
    EXPECT_EQ(ClassOf(label, options), -1) << label;
  }
  EXPECT_EQ(ClassOf(3, options), 2);
}

}  // namespace
}  // namespace infeed

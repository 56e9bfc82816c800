#include "base/count_text.h"

#include <cstddef>
#include <cstdint>

#include "gtest/gtest.h"

namespace infeed {
namespace {

TEST(CountTextTest, HasASingularAndAPlural) {
  EXPECT_EQ(CountText(0, "image"), "0 images");
  EXPECT_EQ(CountText(std::int64_t{1}, "image"), "1 image");
  EXPECT_EQ(CountText(std::size_t{2}, "image"), "2 images");
  EXPECT_EQ(CountText(1, "class", "classes"), "1 class");
  EXPECT_EQ(CountText(2, "class", "classes"), "2 classes");
}

}  // namespace
}  // namespace infeed

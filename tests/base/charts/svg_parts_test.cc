#include "base/charts/svg_parts.h"

#include <gtest/gtest.h>

namespace infeed {
namespace {

TEST(NiceStepTest, StepsAreOneTwoOrFive) {
  EXPECT_DOUBLE_EQ(NiceStep(1), 1);
  EXPECT_DOUBLE_EQ(NiceStep(1.1), 2);
  EXPECT_DOUBLE_EQ(NiceStep(2.5), 5);
  EXPECT_DOUBLE_EQ(NiceStep(51), 100);
  EXPECT_DOUBLE_EQ(NiceStep(0.003), 0.005);
}

TEST(EscapeXmlTest, ShowsTextAsItIs) {
  EXPECT_EQ(EscapeXml("<a b=\"c\">&\n"), "&lt;a b=&quot;c&quot;&gt;&amp; ");
}

}  // namespace
}  // namespace infeed

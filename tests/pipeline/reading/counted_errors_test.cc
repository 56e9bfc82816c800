#include "pipeline/reading/counted_errors.h"

#include "gtest/gtest.h"

namespace infeed {
namespace {

TEST(CountedErrorsTest, KeepsTheFirstInTheStreamsOrder) {
  CountedErrors bad;
  EXPECT_EQ(bad.first(), "");
  bad.Count({.seed = 0, .epoch = 1, .position = 2}, DataError("later"));
  bad.Count({.seed = 0, .epoch = 0, .position = 9}, DataError("first"));
  bad.Count({.seed = 0, .epoch = 0, .position = 9}, DataError("substitute"));
  EXPECT_EQ(bad.first(), "first");
  EXPECT_EQ(bad.count(), 3);
}

}  // namespace
}  // namespace infeed

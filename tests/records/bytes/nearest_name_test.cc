#include "records/bytes/nearest_name.h"

#include <string>

#include <gtest/gtest.h>

namespace infeed {
namespace {

constexpr std::string_view kNames[] = {"train_steps", "train_batch_size",
                                       "seed"};

TEST(NearestNameTest, FindsSlipsAndParts) {
  EXPECT_EQ(NearestName("train_step", kNames), "train_steps");
  EXPECT_EQ(NearestName("tarin_steps", kNames), "train_steps");
  EXPECT_EQ(NearestName("batch_size", kNames), "train_batch_size");
}

TEST(NearestNameTest, ALetterThatIsMissingIsCloserThanAPart) {
  constexpr std::string_view kVerbs[] = {"cat", "stats"};
  EXPECT_EQ(NearestName("stat", kVerbs), "stats");
}

TEST(NearestNameTest, FindsWhatOtherProgramsCallOtherwise) {
  EXPECT_EQ(NearestName("bs", kNames), "train_batch_size");
  EXPECT_EQ(NearestName("max_steps", kNames), "train_steps");
  EXPECT_EQ(NearestName("lr", kNames), "") << "there is no rate here";
  const std::string_view training[] = {"augment_name", "repeat_augment", "mix",
                                       "mixup_alpha"};
  EXPECT_EQ(NearestName("augment", training), "augment_name");
  EXPECT_EQ(NearestName("mixup", training), "mixup_alpha");
}

TEST(NearestNameTest, FindsNothingFarAway) {
  EXPECT_EQ(NearestName("xyzzy", kNames), "");
  EXPECT_EQ(NearestName("se", kNames), "");
  EXPECT_EQ(NearestName(std::string(100'000, 'x'), kNames), "");
}

}  // namespace
}  // namespace infeed

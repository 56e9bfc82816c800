#include "trainer/ranks/token.h"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace infeed {
namespace {

TEST(RankTokenTest, IsAnotherOneEachTime) {
  const std::string token = MakeRankToken();
  EXPECT_THAT(token, testing::MatchesRegex("[0-9a-f]+"));
  EXPECT_EQ(token.size(), 64U);
  EXPECT_NE(MakeRankToken(), token);
}

TEST(RankTokenTest, IsTheSameInEveryCharacter) {
  EXPECT_TRUE(IsSameToken("", ""));
  EXPECT_TRUE(IsSameToken("token", "token"));
  for (const char* other : {"", "t", "tokem", "Token", "token "}) {
    EXPECT_FALSE(IsSameToken("token", other)) << other;
    EXPECT_FALSE(IsSameToken(other, "token")) << other;
  }
}

}  // namespace
}  // namespace infeed

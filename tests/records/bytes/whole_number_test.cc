#include "records/bytes/whole_number.h"

#include <cstdint>

#include <gtest/gtest.h>

namespace infeed {
namespace {

TEST(WholeNumberTest, IsDecimalOrHexadecimal) {
  EXPECT_EQ(ParseWholeNumber<int>("0"), 0);
  EXPECT_EQ(ParseWholeNumber<int>("10"), 10);
  EXPECT_EQ(ParseWholeNumber<int>("-7"), -7);
  EXPECT_EQ(ParseWholeNumber<int>("0x10"), 16);
  EXPECT_EQ(ParseWholeNumber<std::uint64_t>("18446744073709551615"),
            18446744073709551615U);
}

TEST(WholeNumberTest, HasNoLeadingZero) {
  for (const char* text : {"010", "08", "00", "-01"}) {
    EXPECT_TRUE(HasLeadingZero(text)) << text;
    EXPECT_EQ(ParseWholeNumber<int>(text), std::nullopt) << text;
  }
  for (const char* text : {"", "0", "10", "0.5", "0x10", "-0", "a01"}) {
    EXPECT_FALSE(HasLeadingZero(text)) << text;
  }
}

TEST(WholeNumberTest, IsTheWholeText) {
  for (const char* text :
       {"", "1:30", "0b1", "1e4", "1 ", " 1", "0x", "-0x1", "0x-1", "+1"}) {
    EXPECT_EQ(ParseWholeNumber<unsigned>(text), std::nullopt) << text;
  }
  EXPECT_EQ(ParseWholeNumber<std::int8_t>("128"), std::nullopt);
}

TEST(PlainNumberTest, IsDigitsAlone) {
  EXPECT_EQ(ParsePlainNumber<int>("007"), 7);
  EXPECT_EQ(ParsePlainNumber<int>("-7"), -7);
  EXPECT_EQ(ParsePlainNumber<int>("fF", 16), 255);
  for (const char* text : {"", "0x10", "7 ", " 7", "+7", "99999999999"}) {
    EXPECT_EQ(ParsePlainNumber<int>(text), std::nullopt) << text;
  }
}

TEST(PlainNumberTest, LeavesWhatFollows) {
  std::string_view text = "0x10";
  EXPECT_EQ(TakePlainNumber<int>(text), 0);
  EXPECT_EQ(text, "x10");
  EXPECT_EQ(TakePlainNumber<int>(text), std::nullopt);
  EXPECT_EQ(text, "x10");
}

TEST(WholeNumberTest, LeavesWhatFollows) {
  std::string_view text = "12-34";
  EXPECT_EQ(TakeWholeNumber<int>(text), 12);
  EXPECT_EQ(text, "-34");
  text = "010-34";
  EXPECT_EQ(TakeWholeNumber<int>(text), std::nullopt);
  EXPECT_EQ(text, "010-34");
}

}  // namespace
}  // namespace infeed

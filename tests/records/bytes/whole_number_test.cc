#include "records/bytes/whole_number.h"

#include <cstdint>
#include <limits>

#include "base/error.h"
#include "records/bytes/byte_size.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

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

TEST(ByteSizeTest, KnowsUnits) {
  EXPECT_EQ(ParseByteSize("5", "--bytes"), 5);
  EXPECT_EQ(ParseByteSize("5B", "--bytes"), 5);
  EXPECT_EQ(ParseByteSize("5kB", "--bytes"), 5000);
  EXPECT_EQ(ParseByteSize("256MB", "--bytes"), 256'000'000);
  EXPECT_EQ(ParseByteSize("5 MiB", "--bytes"), 5 << 20);
  EXPECT_EQ(ParseByteSize("2GiB", "--bytes"), std::int64_t{2} << 30);
  EXPECT_EQ(ParseByteSize("3TB", "--bytes"), 3'000'000'000'000);
  EXPECT_EQ(ParseByteSize("1TiB", "--bytes"), std::int64_t{1} << 40);
}

TEST(ByteSizeTest, IsShownInTheLargestUnit) {
  EXPECT_EQ(FileSizeText(0), "0 B");
  EXPECT_EQ(FileSizeText(999), "999 B");
  EXPECT_EQ(FileSizeText(1500), "1.5 kB");
  EXPECT_EQ(FileSizeText(999'900), "999.9 kB");
  EXPECT_EQ(FileSizeText(999'960), "1.0 MB");
  EXPECT_EQ(FileSizeText(2'500'000'000'000), "2.5 TB");
  EXPECT_EQ(FileSizeText(std::numeric_limits<std::int64_t>::max()), "9.2 EB");
  EXPECT_EQ(MemorySizeText(1 << 20), "1.0 MiB");
  EXPECT_EQ(MemorySizeText(std::int64_t{244} << 20), "244.0 MiB");
  EXPECT_EQ(MemorySizeText(std::int64_t{3} << 29), "1.5 GiB");
}

TEST(ByteSizeTest, RefusesEverythingElse) {
  for (const char* text : {"", "0", "-1", "0MB", "MB", "1mb", "1.5GB", "010MB",
                           "some", "99999999TB", "1MBs", "1MB ", " 1MB"}) {
    EXPECT_THAT([&] { (void)ParseByteSize(text, "--bytes"); },
                ::testing::ThrowsMessage<UsageError>(
                    "--bytes " + std::string(text) +
                    ": give a size such as 128MB or 1GiB"))
        << text;
  }
}

}  // namespace
}  // namespace infeed

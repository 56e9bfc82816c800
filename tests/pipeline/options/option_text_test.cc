#include "pipeline/options/option_text.h"

#include <string>

#include <gtest/gtest.h>

#include "base/choices.h"
#include "base/error.h"
#include "preprocess/pixels/image_size.h"
#include "tests/support/throws.h"

namespace infeed {
namespace {

// The integer as text; "" for what is none.
std::string Integer(std::string_view text) {
  const std::optional<ScalarInteger> value = ParseInteger(text);
  if (!value) {
    return "";
  }
  return (value->negative ? "-" : "") +
         (value->is_too_large ? "too large" : std::to_string(value->magnitude));
}

TEST(ParseIntegerTest, ReadsDecimalAndHexadecimal) {
  EXPECT_EQ(Integer("0"), "0");
  EXPECT_EQ(Integer("500"), "500");
  EXPECT_EQ(Integer("+32"), "32");
  EXPECT_EQ(Integer("-1"), "-1");
  EXPECT_EQ(Integer("0x10"), "16");
  EXPECT_EQ(Integer("0xaF"), "175");
  EXPECT_EQ(Integer("1_000"), "1000");
}

// YAML 1.1 takes 010 for 8, 1:30 for 90 and 0b101 for 5.
TEST(ParseIntegerTest, RefusesAnythingElse) {
  for (const char* text :
       {"", "abc", "010", "08", "-010", "0_10", "1:30", "0b101", "1.5", "1e4",
        "0x", "--1", "+", "_1", "1 0"}) {
    EXPECT_EQ(Integer(text), "") << text;
  }
}

TEST(ParseIntegerTest, KnowsWhatDoesNotFit) {
  EXPECT_EQ(Integer("18446744073709551615"), "18446744073709551615");
  EXPECT_EQ(Integer("18446744073709551616"), "too large");
  EXPECT_EQ(Integer("-99999999999999999999999"), "-too large");
}

TEST(ParseNumberTest, ReadsWhatYamlReads) {
  EXPECT_EQ(ParseNumber("1.5e-4"), 1.5e-4);
  EXPECT_EQ(ParseNumber("1.5e+4"), 15000);
  EXPECT_EQ(ParseNumber("4.0e-05"), 4e-5);
  EXPECT_EQ(ParseNumber(".5"), 0.5);
  EXPECT_EQ(ParseNumber("5."), 5);
  EXPECT_EQ(ParseNumber("-1_0.5"), -10.5);
  EXPECT_EQ(ParseNumber("0x10"), 16);
}

// The reference's own rule, and one more than it: there this is text.
TEST(ParseNumberTest, ReadsExponentsWithoutPointOrSign) {
  EXPECT_EQ(ParseNumber("1e-4"), 1e-4);
  EXPECT_EQ(ParseNumber("1e4"), 10000);
  EXPECT_EQ(ParseNumber("1.5e4"), 15000);
}

TEST(ParseNumberTest, RefusesAnythingElse) {
  for (const char* text :
       {"", "abc", ".", "e4", "nan", ".nan", "inf", "-inf", ".inf", "1e999",
        "0x1p4", "1:30.5", "010", "01.5", "--1.5", "+-1.5", "1.5 "}) {
    EXPECT_EQ(ParseNumber(text), std::nullopt) << text;
  }
}

TEST(ParseNumberTest, KeepsLargeIntegers) {
  EXPECT_EQ(ParseNumber("18446744073709551616"), 0x1p64);
}

constexpr Choices<int, 3> kSwitch = {{{"auto", 0}, {"true", 1}, {"false", 2}}};
struct SwitchOptions {
  int value = 0;
};

TEST(SetOptionTest, ReadsManySpellingsOfAChoiceThatIsATruth) {
  SwitchOptions options;
  const auto field = ChoiceField<kSwitch, &SwitchOptions::value>();
  const OptionInfo info = {.name = "fused",
                           .choices = field.choices,
                           .range = Any(),
                           .unit = "",
                           .help = "",
                           .when_not_given = ""};
  const auto set = [&](const std::string& text) {
    SetOption(info, {.name = "fused", .value = text, .place = ""},
              field.at(options));
    return options.value;
  };
  EXPECT_EQ(set("1"), 1);
  EXPECT_EQ(set("No"), 2);
  EXPECT_EQ(set("auto"), 0);
  EXPECT_EQ(set("false"), 2);
  EXPECT_THROW(set("2"), UsageError);
}

struct SizeOptions {
  ImageSize size = 224;
};

class SizeOptionTest : public testing::Test {
 protected:
  const ImageSize& Set(const std::string& text) {
    SetOption(info_, {.name = "image_size", .value = text, .place = ""},
              field_.at(options_));
    return options_.size;
  }
  std::string Refusal(const std::string& text) {
    return MessageOf<UsageError>([&] { (void)Set(text); });
  }
  std::string Text() { return ValueText(info_, field_.at(options_)); }

  SizeOptions options_;
  const OptionField<SizeOptions> field_ = Field<&SizeOptions::size>();
  const OptionInfo info_ = {.name = "image_size",
                            .choices = "",
                            .range = Between(8, 512),
                            .unit = "pixels",
                            .help = "",
                            .when_not_given = ""};
};

TEST_F(SizeOptionTest, ReadsASideOrHeightAndWidth) {
  EXPECT_EQ(Text(), "224");
  EXPECT_EQ(Set("96"), 96);
  EXPECT_EQ(Set("0x20"), 32);
  EXPECT_EQ(Set("+1_28"), 128);
  EXPECT_EQ(Set("160x224"), ImageSize(160, 224));
  EXPECT_EQ(Text(), "160x224");
  EXPECT_EQ(Set("64x64"), 64);
  EXPECT_EQ(Text(), "64");
}

TEST_F(SizeOptionTest, RefusesASideOutOfItsRange) {
  EXPECT_EQ(Refusal("7"), "image_size=7: must be at least 8");
  EXPECT_EQ(Refusal("7x64"), "image_size=7x64: must be at least 8");
  EXPECT_EQ(Refusal("64x513"), "image_size=64x513: must be at most 512");
  EXPECT_EQ(Refusal("-224"), "image_size=-224: must be at least 8");
  EXPECT_EQ(Refusal("99999999999"),
            "image_size=99999999999: must be at most 512");
}

TEST_F(SizeOptionTest, RefusesOtherText) {
  EXPECT_EQ(Refusal("large"),
            "image_size='large': must be an integer, or a height and a width "
            "such as 224x320");
  for (const char* const text :
       {"", "224x", "x224", "22.4", "1x2x3", "a x b"}) {
    EXPECT_NE(Refusal(text), "") << text;
  }
}

TEST_F(SizeOptionTest, ChecksAndCopiesSizes) {
  EXPECT_EQ(TypeText(field_.at(options_)), "size");
  SizeOptions other{.size = {64, 600}};
  EXPECT_EQ(
      MessageOf<UsageError>([&] { CheckOption(info_, field_.at(other)); }),
      "image_size=64x600: must be at most 512");
  CopyOption(field_.at(other), field_.at(options_));
  EXPECT_EQ(options_.size, ImageSize(64, 600));
}

TEST(ParseTruthTest, ReadsManySpellings) {
  for (const char* text : {"true", "True", "YES", "on", "1"}) {
    EXPECT_EQ(ParseTruth(text), true) << text;
  }
  for (const char* text : {"false", "FALSE", "no", "Off", "0"}) {
    EXPECT_EQ(ParseTruth(text), false) << text;
  }
  EXPECT_EQ(ParseTruth("y"), std::nullopt);
  EXPECT_EQ(ParseTruth("2"), std::nullopt);
}

TEST(IsNullTest, KnowsThem) {
  for (const char* text : {"null", "Null", "NULL", "~", "None"}) {
    EXPECT_TRUE(IsNull(text)) << text;
  }
  EXPECT_FALSE(IsNull("none"));
  EXPECT_FALSE(IsNull(""));
}

}  // namespace
}  // namespace infeed

#include "tools/cli/help_text.h"

#include <sstream>
#include <string>

#include "tests/support/environment_variable.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace infeed {
namespace help_text_test {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

constexpr auto kShort = CLI::AppFormatMode::Normal;
constexpr auto kAll = CLI::AppFormatMode::All;

TEST(HelpWidthTest, IsThatOfTheVariableColumns) {
  const EnvironmentVariable columns("COLUMNS", "72");
  EXPECT_EQ(HelpWidth(), 72U);
}

TEST(HelpWidthTest, HasALowerLimit) {
  const EnvironmentVariable columns("COLUMNS", "5");
  EXPECT_EQ(HelpWidth(), 40U);
}

TEST(HelpWidthTest, PassesOverATextThatIsNotANumber) {
  const EnvironmentVariable columns("COLUMNS", "wide");
  EXPECT_GE(HelpWidth(), 40U);
}

TEST(WrappedTest, BreaksLinesBetweenWords) {
  EXPECT_EQ(Wrapped("a bc def", 4), "a bc\ndef");
  EXPECT_EQ(Wrapped("a longword b", 4, "  "), "a\n  longword\n  b");
  EXPECT_EQ(Wrapped("", 4), "");
}

TEST(WrappedParagraphsTest, KeepsIndentedAndEmptyLines) {
  EXPECT_EQ(
      WrappedParagraphs("one two\nthree\n\nExamples:\n  a  b c d e f\n", 9),
      "one two\nthree\n\nExamples:\n  a  b c d e f\n");
  EXPECT_EQ(WrappedParagraphs("one\ntwo", 9), "one two\n");
}

// An app with a common, a rare and a required flag.
class HelpTextTest : public testing::Test {
 protected:
  HelpTextTest() {
    app_.name("tool");
    app_.set_help_flag();
    app_.footer("Examples:\n  tool --in A\n\nThe end.");
    {
      const FlagGroup group(app_, "Input");
      app_.add_option("--in", in_, "What to read.")
          ->required()
          ->type_name("FILE");
      Rare(app_.add_option("--quirk", number_, "Rarely set."))
          ->capture_default_str();
    }
    const FlagGroup group(app_, "Cloud", Shown::kInHelpAll);
    app_.add_flag("--far,!--near", far_, "Far away.");
    Common(app_.add_option("--mode", in_, "How."))->type_name("aaaa|bbbb|cccc");
  }

  [[nodiscard]] std::string Help(CLI::AppFormatMode mode,
                                 std::size_t width = 80) const {
    return HelpText(width).make_help(&app_, "tool", mode);
  }

  CLI::App app_{"Does things."};
  std::string in_;
  int number_ = 7;
  bool far_ = false;
};

TEST_F(HelpTextTest, HasTheUsageThenExamplesThenTheCommonFlags) {
  EXPECT_EQ(Help(kShort),
            "Usage: tool --in FILE [FLAG...]\n"
            "\n"
            "Does things.\n"
            "\n"
            "Examples:\n"
            "  tool --in A\n"
            "\n"
            "Input:\n"
            "  --in FILE                   What to read. Required.\n"
            "\n"
            "Cloud:\n"
            "  --mode aaaa|bbbb|cccc       How.\n"
            "\n"
            "The end.\n"
            "\n"
            "2 more flags: tool --help_all\n");
}

TEST_F(HelpTextTest, HasAllFlagsWhereTheyAreAskedFor) {
  EXPECT_THAT(Help(kAll),
              AllOf(HasSubstr("--quirk INT                 Rarely set. [7]\n"),
                    HasSubstr("--far,--near                Far away.\n"),
                    Not(HasSubstr("more flags"))));
}

TEST_F(HelpTextTest, BreaksWhatIsLongerThanALine) {
  EXPECT_THAT(Help(kShort, 20), HasSubstr("  --mode aaaa|bbbb|\n"
                                          "      cccc\n"));
}

TEST_F(HelpTextTest, ListsVerbsAndExplainsThemWhereAllIsAskedFor) {
  app_.formatter(std::make_shared<HelpText>(80));
  app_.add_subcommand("go", "Goes.")->add_flag("--fast", far_, "Quickly.");
  EXPECT_THAT(Help(kShort),
              AllOf(StartsWith("Usage: tool VERB "),
                    HasSubstr("  go                          Goes.\n"),
                    Not(HasSubstr("--fast"))));
  EXPECT_THAT(Help(kAll), AllOf(HasSubstr("Usage: tool go [FLAG...]"),
                                HasSubstr("Quickly.")));
}

}  // namespace help_text_test
}  // namespace infeed

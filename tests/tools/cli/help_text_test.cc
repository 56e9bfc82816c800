#include "tools/cli/help_text.h"

#include <memory>
#include <string>

#include "tests/support/matchers.h"

namespace infeed::help_text_test {

// An app with common and rare flags.
class HelpTextTest : public testing::Test {
 protected:
  HelpTextTest() {
    app_.formatter(std::make_shared<HelpText>());
    app_.footer("Examples:\n  tool --in A\n");
    {
      const FlagGroup group(app_, "Input");
      app_.add_option("--in", in_,
                      "A text that is longer than the fifty-four characters "
                      "that fit into a line.");
      Rare(app_.add_option("--quirk", number_, "Rarely set."))
          ->capture_default_str();
      NameValues(app_, {{"--in", "FILE"}});
    }
    const FlagGroup group(app_, "Cloud", Shown::kInHelpAll);
    app_.add_flag("--far", far_, "Far away.");
    Common(app_.add_option("--mode", in_, "How."))->option_text("aa|bb=aa");
  }

  CLI::App app_{"Does things.", "tool"};
  std::string in_;
  int number_ = 7;
  bool far_ = false;
};

TEST_F(HelpTextTest, HasGroupsDefaultsAndExamples) {
  EXPECT_THAT(
      app_.help(),
      AllOf(HasSubstr("Input:\n"
                      "  --in FILE             A text that is longer than the "
                      "fifty-four characters\n"
                      "                        that fit into a line.\n"
                      "  --quirk INT=7         Rarely set.\n"),
            HasSubstr("Cloud:\n  --far                 Far away.\n"),
            HasSubstr("--mode aa|bb=aa "),
            HasSubstr("\nExamples:\n  tool --in A\n")));
}

TEST_F(HelpTextTest, LeavesOutRareFlags) {
  bool slow = false;
  Rare(app_.add_subcommand("go", "Goes.")->add_flag("--slow", slow, "Slowly."));
  HideRareFlags(app_);
  EXPECT_THAT(app_.help("", CLI::AppFormatMode::All),
              AllOf(HasSubstr("--in"), HasSubstr("--mode"),
                    Not(HasSubstr("--quirk")), Not(HasSubstr("--far")),
                    HasSubstr("Goes."), Not(HasSubstr("--slow"))));
}

TEST_F(HelpTextTest, BreaksLinesOfTheDescriptionBetweenWords) {
  app_.description(std::string(70, 'a') + " bbbbb ccccc");
  EXPECT_THAT(app_.help(), HasSubstr(std::string(70, 'a') + " bbbbb\nccccc\n"));
  app_.description(std::string(90, 'a') + " bbbbb");
  EXPECT_THAT(app_.help(), HasSubstr(std::string(90, 'a') + "\nbbbbb\n"));
}

}  // namespace infeed::help_text_test

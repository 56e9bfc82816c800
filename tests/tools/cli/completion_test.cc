#include <cstdlib>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "base/atomic_file.h"
#include "tests/support/matchers.h"
#include "tests/support/temporary_folder.h"
#include "tools/cli/flags.h"

namespace infeed::completion_test {

std::vector<std::string> ChoicesOfText(const std::string& text) {
  CLI::App app;
  return ChoicesOf(*app.add_flag("--flag")->option_text(text));
}

TEST(ChoicesOfTest, AreSplitAtBars) {
  EXPECT_THAT(ChoicesOfText("a|b"), ElementsAre("a", "b"));
  EXPECT_THAT(ChoicesOfText("a|b|c=a"), ElementsAre("a", "b", "c"));
  EXPECT_THAT(ChoicesOfText("[=a|b]"), ElementsAre("a", "b"));
  EXPECT_THAT(ChoicesOfText("[=FILE]"), IsEmpty());
  EXPECT_THAT(ChoicesOfText("DIR"), IsEmpty());
}

// The completions by bash for a program of two verbs. The words are those that
// bash makes of a line, with the unfinished one last.
std::string Completed(const std::string& words) {
  CLI::App app("", "tool");
  app.set_help_flag();  // Verbs inherit it.
  app.add_flag("--quiet");
  CLI::App* const list = app.add_subcommand("list");
  list->add_flag("--json")->option_text("[=FILE]");
  list->add_option_group("How")->add_flag("--mode")->option_text(
      "new|next=new");
  list->add_flag("--secret")->group("");
  app.add_subcommand("look");
  const TemporaryFolder folder;
  WriteFileAtomically(folder / "commands",
                      BashCompletion(app) + "COMP_WORDS=(" + words +
                          ")\nCOMP_CWORD=$((${#COMP_WORDS[@]} - 1))\n_tool\n"
                          "echo ${COMPREPLY[@]} >" +
                          (folder / "out"));
  EXPECT_EQ(std::system(("bash " + (folder / "commands")).c_str()), 0);
  return ReadWholeFile(folder / "out", 1 << 16);
}

TEST(BashCompletionTest, OffersVerbsAndFlags) {
  EXPECT_EQ(Completed("tool l"), "list look\n");
  EXPECT_EQ(Completed("tool --q"), "--quiet\n");
  EXPECT_EQ(Completed("tool list --"), "--json --mode\n");
  EXPECT_EQ(Completed("tool list x --m"), "--mode\n");
}

TEST(BashCompletionTest, OffersChoices) {
  EXPECT_EQ(Completed("tool list --mode ne"), "new next\n");
  EXPECT_EQ(Completed("tool list --mode ''"), "new next\n");
  EXPECT_EQ(Completed("tool list --mode ="), "new next\n");
  EXPECT_EQ(Completed("tool list --mode = nex"), "next\n");
}

TEST(BashCompletionTest, OffersChoicesWhereWordsAreNotSplitAsInZsh) {
  EXPECT_EQ(Completed("tool list --mode=nex"), "--mode=next\n");
}

TEST(BashCompletionTest, LeavesOtherValuesToTheCompletionOfFiles) {
  EXPECT_EQ(Completed("tool list --json = x"), "\n");
  EXPECT_EQ(Completed("tool list ''"), "\n");
}

}  // namespace infeed::completion_test

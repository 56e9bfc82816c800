#include "tools/cli/help_text.h"

#include <sstream>
#include <string_view>

namespace infeed {
namespace {

// Of a terminal's 80 two are left for --help_all, which indents verbs.
constexpr std::size_t kColumns = 78;
constexpr std::size_t kNameColumns = 24;
constexpr const char* kOwnGroup = "Options";

// Breaks lines between words. Lines that begin with a space, such as examples,
// stay as they are.
std::string Wrapped(const std::string& text, std::size_t width) {
  std::istringstream lines(text);
  std::string wrapped;
  for (std::string line; std::getline(lines, line);) {
    std::size_t begin = line.starts_with(' ') ? line.size() : 0;
    while (line.size() - begin > width) {
      std::size_t space = line.rfind(' ', begin + width);
      if (space == std::string::npos || space < begin) {  // A longer word.
        space = line.find(' ', begin);
      }
      if (space == std::string::npos) {
        break;
      }
      line[space] = '\n';
      begin = space + 1;
    }
    wrapped += (wrapped.empty() ? "" : "\n") + line;
  }
  return wrapped;
}

}  // namespace

// CLI11's own use of this mark, configuration files, does not occur here.
CLI::Option* Common(CLI::Option* option) { return option->configurable(true); }

CLI::Option* Rare(CLI::Option* option) { return option->configurable(false); }

void HideRareFlags(CLI::App& app) {
  for (CLI::Option* const option : app.get_options()) {
    if (!option->get_configurable()) {
      option->group("");
    }
  }
  for (CLI::App* const verb : app.get_subcommands({})) {
    HideRareFlags(*verb);
  }
}

FlagGroup::FlagGroup(CLI::App& app, std::string title, Shown shown)
    : app_(app) {
  app_.option_defaults()->group(title)->configurable(shown == Shown::kInHelp);
}

FlagGroup::~FlagGroup() {
  app_.option_defaults()->group(kOwnGroup)->configurable();
}

void NameValues(
    CLI::App& app,
    std::initializer_list<std::pair<const char*, const char*>> values) {
  for (const auto& [flag, text] : values) {
    CLI::Option* const option = app.get_option(flag);
    if (std::string_view(text).starts_with("[=")) {
      option->option_text(text);
    } else {
      option->type_name(text);
    }
  }
}

HelpText::HelpText() {
  column_width(kNameColumns);
  label("Positionals", "Arguments");
  label("SUBCOMMAND", "VERB");
}

std::string HelpText::make_description(const CLI::App* app) const {
  return Wrapped(CLI::Formatter::make_description(app), kColumns) + "\n\n";
}

std::string HelpText::make_footer(const CLI::App* app) const {
  return Wrapped(CLI::Formatter::make_footer(app), kColumns) + "\n";
}

std::string HelpText::make_option_desc(const CLI::Option* option) const {
  return Wrapped(option->get_description(), kColumns - kNameColumns);
}

}  // namespace infeed

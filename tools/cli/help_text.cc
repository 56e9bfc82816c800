#include "tools/cli/help_text.h"

#include <sstream>
#include <utility>

namespace infeed {
namespace {

constexpr std::size_t kColumns = 80;
constexpr std::size_t kDescriptions = 30;  // their first column

std::string ListOptionNames(const std::vector<const CLI::Option*>& options) {
  std::string names;
  for (const CLI::Option* option : options) {
    names += (names.empty() ? "" : " ") + option->get_single_name();
  }
  return names;
}

}  // namespace

std::string Wrapped(std::string_view text, std::size_t width,
                    std::string_view indent) {
  std::istringstream words{std::string(text)};
  std::string lines;
  std::size_t column = 0;
  for (std::string word; words >> word;) {
    if (column > 0 && column + 1 + word.size() > width) {
      lines.append("\n").append(indent);
      column = 0;
    } else if (column > 0) {
      lines += ' ';
      ++column;
    }
    lines += word;
    column += word.size();
  }
  return lines;
}

WrappedHelp::WrappedHelp() { column_width(kDescriptions); }

std::string WrappedHelp::make_option_desc(const CLI::Option* option) const {
  return Wrapped(CLI::Formatter::make_option_desc(option),
                 kColumns - kDescriptions);
}

std::string HelpText::make_help(const CLI::App* app, std::string name,
                                CLI::AppFormatMode mode) const {
  return mode == CLI::AppFormatMode::All
             ? WrappedHelp().make_help(app, std::move(name), mode)
             : WrappedHelp::make_help(app, std::move(name), mode);
}

std::string HelpText::make_group(
    std::string group, bool is_positional,
    std::vector<const CLI::Option*> options) const {
  if (!group.starts_with(kShortGroup)) {
    return WrappedHelp::make_group(group, is_positional, options);
  }
  return "\n" + group + "\n  " +
         Wrapped(ListOptionNames(options), kColumns - 2, "  ") + "\n";
}

}  // namespace infeed

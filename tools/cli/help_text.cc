#include "tools/cli/help_text.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <set>
#include <sstream>
#include <utility>

#include <fmt/format.h>

#include "records/bytes/whole_number.h"

namespace infeed {
namespace {

constexpr std::size_t kLeastColumns = 40;
constexpr std::size_t kDefaultColumns = 100;
constexpr std::size_t kMostColumns = 1000;
constexpr std::size_t kDescriptions = 30;  // their first column at most
constexpr const char* kOwnGroup = "Options";
constexpr const char* kExamples = "Examples:\n";

using Options = std::vector<const CLI::Option*>;

// CLI11's own use of this mark, configuration files, does not occur here.
bool IsCommon(const CLI::Option& option) { return option.get_configurable(); }

bool IsShown(const CLI::Option& option, CLI::AppFormatMode mode) {
  return !option.get_group().empty() &&
         (mode == CLI::AppFormatMode::All || IsCommon(option));
}

Options OptionsOf(const CLI::App& app, const std::string& group,
                  CLI::AppFormatMode mode) {
  return app.get_options([&](const CLI::Option* option) {
    return option->get_group() == group && option->nonpositional() &&
           IsShown(*option, mode);
  });
}

// The apps in which CLI11 keeps options of which one is to be given.
std::vector<const CLI::App*> AlternativesOf(const CLI::App& app) {
  return app.get_subcommands(
      [](const CLI::App* one) { return one->get_name().empty(); });
}

std::vector<const CLI::App*> VerbsOf(const CLI::App& app) {
  return app.get_subcommands(
      [](const CLI::App* one) { return !one->get_name().empty(); });
}

std::size_t CountHidden(const CLI::App& app) {
  return app
      .get_options([](const CLI::Option* option) {
        return !option->get_group().empty() && !IsCommon(*option);
      })
      .size();
}

// What CLI11 appends to a flag's name for its value: "{false}".
std::string WithoutBraces(std::string names) {
  for (std::size_t at = names.find('{'); at != std::string::npos;
       at = names.find('{')) {
    names.erase(at, names.find('}', at) - at + 1);
  }
  return names;
}

// The type and the default of "a|b|c=a", and of "[=FILE]" the type alone.
std::pair<std::string, std::string> TypeAndDefault(const CLI::Option& option) {
  const std::string& text = option.get_option_text();
  if (!text.empty()) {
    const std::size_t equals =
        text.starts_with("[=") ? text.npos : text.find('=');
    return {text.substr(0, equals),
            equals == text.npos ? "" : text.substr(equals + 1)};
  }
  if (option.get_type_size() == 0) {
    return {};
  }
  const std::string type = option.get_type_name();
  return {type.substr(0, type.find(':')),
          option.get_expected_min() > 0 ? option.get_default_str() : ""};
}

std::string NamesText(const std::set<CLI::Option*>& options) {
  std::string names;
  for (const CLI::Option* const option : options) {
    names += (names.empty() ? "" : ", ") + option->get_name();
  }
  return names;
}

// Breaks a list of choices, "a|b|c", that is longer than a line.
std::string WithBrokenChoices(std::string name, std::size_t width) {
  std::size_t begin = 0;
  while (name.size() - begin > width) {
    const std::size_t bar = name.rfind('|', begin + width - 1);
    if (bar == std::string::npos || bar <= begin) {
      break;
    }
    name.insert(bar + 1, "\n      ");
    begin = bar + 2;
  }
  return name;
}

// A footer's text up to the end of its examples, and what follows them.
std::pair<std::string, std::string> SplitFooter(const std::string& footer) {
  const std::size_t examples = footer.find(kExamples);
  const std::size_t end =
      examples == footer.npos ? footer.npos : footer.find("\n\n", examples);
  return {footer.substr(0, end),
          end == footer.npos ? "" : footer.substr(end + 1)};
}

}  // namespace

CLI::Option* Common(CLI::Option* option) { return option->configurable(true); }

CLI::Option* Rare(CLI::Option* option) { return option->configurable(false); }

FlagGroup::FlagGroup(CLI::App& app, std::string title, Shown shown)
    : app_(app) {
  app_.option_defaults()->group(title)->configurable(shown == Shown::kInHelp);
}

FlagGroup::~FlagGroup() {
  app_.option_defaults()->group(kOwnGroup)->configurable();
}

std::size_t HelpWidth() {
  const char* const variable = std::getenv("COLUMNS");
  const std::optional<std::int64_t> columns =
      ParsePlainNumber<std::int64_t>(variable == nullptr ? "" : variable);
  if (columns.value_or(0) > 0) {
    return std::clamp(static_cast<std::size_t>(*columns), kLeastColumns,
                      kMostColumns);
  }
  struct winsize size {};
  const bool is_terminal = ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0;
  return is_terminal && size.ws_col > 0
             ? std::max<std::size_t>(size.ws_col, kLeastColumns)
             : kDefaultColumns;
}

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

std::string WrappedParagraphs(std::string_view text, std::size_t width) {
  std::istringstream lines{std::string(text)};
  std::string wrapped;
  std::string paragraph;
  const auto finish = [&] {
    wrapped += Wrapped(paragraph, width) + (paragraph.empty() ? "" : "\n");
    paragraph.clear();
  };
  for (std::string line; std::getline(lines, line);) {
    if (line.empty() || line.starts_with(' ')) {
      finish();
      wrapped += line + "\n";
    } else {
      paragraph += line + " ";
    }
  }
  finish();
  return wrapped;
}

std::string HelpText::make_help(const CLI::App* app, std::string name,
                                CLI::AppFormatMode mode) const {
  const bool all = mode == CLI::AppFormatMode::All;
  const auto [head, tail] = SplitFooter(app->get_footer());
  std::string text = make_usage(app, name) + "\n" +
                     WrappedParagraphs(app->get_description(), width_);
  text += head.empty() ? "" : "\n" + WrappedParagraphs(head, width_);
  text += make_positionals(app) + make_subcommands(app, mode) +
          GroupsText(*app, mode) + WrappedParagraphs(tail, width_);
  if (const std::size_t hidden = CountHidden(*app); hidden > 0 && !all) {
    text += fmt::format("\n{} more flags: {} --help_all\n", hidden, name);
  }
  for (const CLI::App* const verb : VerbsOf(*app)) {
    text += all ? "\n\n" + verb->help(name, mode) : "";
  }
  return text;
}

std::string HelpText::make_usage(const CLI::App* app, std::string name) const {
  std::string usage = "Usage: " + name;
  usage += VerbsOf(*app).empty() ? "" : " VERB";
  std::string after;
  for (const CLI::Option* const option : app->get_options()) {
    if (option->get_positional()) {
      after += " " + make_option_usage(option);
    } else if (option->get_required()) {
      usage += " " + option->get_name() + make_option_opts(option);
    }
  }
  return usage + " [FLAG...]" + after + "\n";
}

std::string HelpText::make_subcommands(const CLI::App* app,
                                       CLI::AppFormatMode /*mode*/) const {
  std::string text;
  for (const CLI::App* const verb : VerbsOf(*app)) {
    text += Entry(verb->get_name(), verb->get_description());
  }
  return text.empty() ? "" : "\nVerbs:\n" + text;
}

std::string HelpText::make_option(const CLI::Option* option,
                                  bool is_positional) const {
  const std::string name =
      is_positional ? make_option_usage(option)
                    : WithoutBraces(make_option_name(option, false)) +
                          make_option_opts(option);
  return Entry(name, make_option_desc(option));
}

std::string HelpText::make_option_opts(const CLI::Option* option) const {
  const std::string type = TypeAndDefault(*option).first;
  const bool is_list =
      option->get_expected_max() >= CLI::detail::expected_max_vector_size;
  return (type.empty() || type.starts_with('[') ? type : " " + type) +
         (is_list ? " ..." : "");
}

std::string HelpText::make_option_desc(const CLI::Option* option) const {
  std::string text = option->get_description();
  const std::string value = TypeAndDefault(*option).second;
  if (!value.empty()) {
    text += value.starts_with('[') ? " " + value : " [" + value + "]";
  }
  if (!option->get_needs().empty()) {
    text += " Only with " + NamesText(option->get_needs()) + ".";
  }
  if (!option->get_excludes().empty()) {
    text += " Not with " + NamesText(option->get_excludes()) + ".";
  }
  return text + (option->get_required() && option->nonpositional()
                     ? " Required."
                     : "");
}

std::string HelpText::GroupsText(const CLI::App& app,
                                 CLI::AppFormatMode mode) const {
  const auto group_text = [&](const CLI::App& of, const std::string& title,
                              const std::string& group) {
    std::string lines;
    for (const CLI::Option* const option : OptionsOf(of, group, mode)) {
      lines += make_option(option, false);
    }
    const char* const end = title.starts_with(kParameters) ? "\n" : ":\n";
    return lines.empty() ? "" : "\n" + title + end + lines;
  };
  std::string text;
  for (const std::string& title : app.get_groups()) {
    text += title == kLastGroup ? "" : group_text(app, title, title);
  }
  for (const CLI::App* const one : AlternativesOf(app)) {
    text += group_text(*one, one->get_group() + ", " + one->get_description(),
                       kOwnGroup);
  }
  return text + group_text(app, kLastGroup, kLastGroup);
}

std::string HelpText::Entry(const std::string& name,
                            const std::string& about) const {
  const std::size_t column = std::min(kDescriptions, width_ * 3 / 8);
  const std::string indent(column, ' ');
  std::string text = "  " + WithBrokenChoices(name, width_ - 2);
  const bool fits = text.size() + 2 <= column;
  text += fits ? std::string(column - text.size(), ' ') : "\n" + indent;
  return text + Wrapped(about, width_ - column, indent) + "\n";
}

}  // namespace infeed

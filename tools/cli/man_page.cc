#include "tools/cli/man_page.h"

#include <algorithm>
#include <sstream>
#include <string_view>
#include <vector>

#include <CLI/CLI.hpp>

namespace infeed {
namespace {

using Options = std::vector<const CLI::Option*>;

// Escapes text for roff: no escapes, no requests, searchable hyphens.
std::string Escaped(std::string_view text) {
  std::string escaped;
  bool begins_line = true;
  for (const char c : text) {
    if (begins_line && (c == '.' || c == '\'')) {
      escaped += "\\&";
    }
    begins_line = c == '\n';
    if (c == '\\') {
      escaped += "\\e";
    } else {
      escaped += c == '-' ? "\\-" : std::string(1, c);
    }
  }
  return escaped;
}

Options ShownOptions(const CLI::App& app, const std::string& group) {
  return app.get_options([&group](const CLI::Option* option) {
    return option->get_group() == group && option->nonpositional();
  });
}

std::string OptionText(const CLI::Option& option) {
  std::string text = ".TP\n\\fB" + Escaped(option.get_name()) + "\\fR";
  const std::string type = option.get_type_name();
  if (option.get_expected_max() > 0 && !type.empty()) {
    text += " \\fI" + Escaped(type) + "\\fR";
  }
  text += "\n" + Escaped(option.get_description());
  if (!option.get_default_str().empty() && option.get_expected_min() > 0) {
    text += Escaped(" [" + option.get_default_str() + "]");
  }
  return text + "\n";
}

std::string OptionsText(const CLI::App& app) {
  std::string text;
  for (const std::string& group : app.get_groups()) {
    const Options options = ShownOptions(app, group);
    if (group.empty() || options.empty()) {
      continue;
    }
    text += ".SS " + Escaped(group) + "\n";
    for (const CLI::Option* option : options) {
      text += OptionText(*option);
    }
  }
  return text;
}

std::string FirstLine(const std::string& text) {
  return text.substr(0, text.find('\n'));
}

// A block that roff does not reformat.
std::string Verbatim(const std::string& text) {
  return ".nf\n" + Escaped(text) + "\n.fi\n";
}

}  // namespace

std::string ManPage(const CLI::App& app) {
  const std::string name = app.get_name();
  std::string page = ".TH " + name + " 1 \"\" \"infeed\"\n.SH NAME\n" + name +
                     " \\- " + Escaped(FirstLine(app.get_description())) +
                     "\n.SH SYNOPSIS\n.B " + name + "\n";
  const auto verbs = app.get_subcommands([](const CLI::App*) { return true; });
  page += std::string(verbs.empty() ? "" : "\\fIVERB\\fR ") +
          "[\\fIOPTION\\fR...]\n";
  page += ".SH DESCRIPTION\n" + Verbatim(app.get_description());
  page += ".SH OPTIONS\n" + OptionsText(app);
  for (const CLI::App* verb : verbs) {
    page += ".SH " + Escaped(name + " " + verb->get_name()) + "\n" +
            Escaped(verb->get_description()) + "\n" + OptionsText(*verb);
  }
  if (!app.get_footer().empty()) {
    page += ".SH NOTES\n" + Verbatim(app.get_footer());
  }
  return page;
}

}  // namespace infeed

#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <CLI/CLI.hpp>

namespace infeed {

// Help whose descriptions are broken into lines of 80 columns.
class WrappedHelp : public CLI::Formatter {
 public:
  WrappedHelp();
  [[nodiscard]] std::string make_option_desc(
      const CLI::Option* option) const override;
};

// --help of a program with very many flags: groups whose name begins with
// kShortGroup show only the flags' names, except in --help_all.
class HelpText final : public WrappedHelp {
 public:
  static constexpr std::string_view kShortGroup = "Parameters: ";

  [[nodiscard]] std::string make_help(const CLI::App* app, std::string name,
                                      CLI::AppFormatMode mode) const override;
  [[nodiscard]] std::string make_group(
      std::string group, bool is_positional,
      std::vector<const CLI::Option*> options) const override;
};

// Breaks a text into lines of at most `width` characters, joined by "\n" and
// `indent`; a longer word stands on a line of its own.
[[nodiscard]] std::string Wrapped(std::string_view text, std::size_t width,
                                  std::string_view indent = "");

}  // namespace infeed

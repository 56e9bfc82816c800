#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <CLI/CLI.hpp>

// The texts of --help and --help_all. --help prints the usage, examples and the
// flags that most runs need; --help_all prints every flag.
namespace infeed {

// How a flag's place in --help is marked: at the flag itself, or at the group.
enum class Shown { kInHelp, kInHelpAll };

// Returns the option, marked to be printed by --help, or by --help_all only.
CLI::Option* Common(CLI::Option* option);
CLI::Option* Rare(CLI::Option* option);

// While it lives, flags that are added to the app belong to a group of this
// title; Common() and Rare() mark single ones otherwise. Borrows the app.
class FlagGroup {
 public:
  FlagGroup(CLI::App& app, std::string title, Shown shown = Shown::kInHelp);
  FlagGroup(const FlagGroup&) = delete;
  FlagGroup& operator=(const FlagGroup&) = delete;
  ~FlagGroup();

 private:
  CLI::App& app_;
};

class HelpText final : public CLI::Formatter {
 public:
  // Titles of groups of flags that are a training's parameters begin so.
  static constexpr std::string_view kParameters = "Parameters: ";
  // The group of --help, --help_all and --version, printed last.
  static constexpr const char* kLastGroup = "Help";

  // width: of the lines, in characters.
  explicit HelpText(std::size_t width) : width_(width) {
    label("Positionals", "Arguments");
  }

  [[nodiscard]] std::string make_help(const CLI::App* app, std::string name,
                                      CLI::AppFormatMode mode) const override;
  [[nodiscard]] std::string make_usage(const CLI::App* app,
                                       std::string name) const override;
  [[nodiscard]] std::string make_subcommands(
      const CLI::App* app, CLI::AppFormatMode mode) const override;
  [[nodiscard]] std::string make_option(const CLI::Option* option,
                                        bool is_positional) const override;
  [[nodiscard]] std::string make_option_opts(
      const CLI::Option* option) const override;
  [[nodiscard]] std::string make_option_desc(
      const CLI::Option* option) const override;

 private:
  [[nodiscard]] std::string GroupsText(const CLI::App& app,
                                       CLI::AppFormatMode mode) const;
  // A name, and what it is, in two columns.
  [[nodiscard]] std::string Entry(const std::string& name,
                                  const std::string& about) const;

  std::size_t width_;
};

// The width of lines for stdout: the variable COLUMNS, else the width of the
// terminal, else 100; at least 40.
[[nodiscard]] std::size_t HelpWidth();

// Breaks a text into lines of at most `width` characters, joined by "\n" and
// `indent`; a longer word stands on a line of its own.
[[nodiscard]] std::string Wrapped(std::string_view text, std::size_t width,
                                  std::string_view indent = "");

// Breaks the paragraphs of a text anew into lines of at most `width`
// characters. Lines that begin with a space, such as examples, stay as they
// are.
[[nodiscard]] std::string WrappedParagraphs(std::string_view text,
                                            std::size_t width);

}  // namespace infeed

#pragma once

#include <cstddef>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

#include <CLI/CLI.hpp>

#include "base/choices.h"

// The texts of --help and --help_all: CLI11's, with lines broken for a terminal
// of 80 columns. --help has the flags that most runs need, --help_all every
// flag.
namespace infeed {

// How a flag's place in --help is marked: at the flag itself, or at the group.
enum class Shown { kInHelp, kInHelpAll };

// Returns the option, marked to be printed by --help, or by --help_all only.
CLI::Option* Common(CLI::Option* option);
CLI::Option* Rare(CLI::Option* option);

// Removes the Rare() flags from the help of an app and its verbs.
void HideRareFlags(CLI::App& app);

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

// Names the kind of a flag's value for help and completion, where its C++ type
// does not show it: {"--output", "DIR"}. Requires: the app has the flags.
void NameValues(
    CLI::App& app,
    std::initializer_list<std::pair<const char*, const char*>> values);

// Turns a choice's name into its number. CLI::CheckedTransformer takes the
// numbers as well, and its error lists them.
template <typename Value, std::size_t kCount>
[[nodiscard]] CLI::Validator OneOf(const Choices<Value, kCount>& choices) {
  return CLI::Validator(
      [choices](std::string& text) {
        const Value* const value = FindChoice(text, choices);
        if (value == nullptr) {
          return text + " is not " + ListChoices(choices);
        }
        text = std::to_string(static_cast<int>(*value));
        return std::string();
      },
      "");
}

// Adds a flag whose values are the choices. Its text lists them, and `value` as
// the default: "a|b|c=a".
template <typename Value, std::size_t kCount>
CLI::Option* AddChoice(CLI::App& app, const std::string& flag, Value& value,
                       const Choices<Value, kCount>& choices,
                       const std::string& about) {
  const std::string names =
      JoinNames(choices, &std::pair<std::string_view, Value>::first);
  return app.add_option(flag, value, about)
      ->transform(OneOf(choices))
      ->option_text(names + "=" + std::string(ChoiceName(value, choices)));
}

class HelpText final : public CLI::Formatter {
 public:
  HelpText();

  [[nodiscard]] std::string make_description(
      const CLI::App* app) const override;
  [[nodiscard]] std::string make_footer(const CLI::App* app) const override;
  [[nodiscard]] std::string make_option_desc(
      const CLI::Option* option) const override;
};

}  // namespace infeed

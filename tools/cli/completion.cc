#include "tools/cli/completion.h"

#include <string_view>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace infeed {
namespace {

// Bash splits words at "=", zsh does not. Where nothing is offered, files are.
constexpr std::string_view kScriptBegin = R"(() {
  local cur=${COMP_WORDS[COMP_CWORD]} flag=${COMP_WORDS[COMP_CWORD - 1]}
  local verb=${COMP_WORDS[1]} before= words=
  if [[ $cur == "=" ]]; then
    cur=
  elif [[ $flag == "=" ]]; then
    flag=${COMP_WORDS[COMP_CWORD - 2]}
  elif [[ $cur == --*=* ]]; then
    flag=${cur%%=*}
    before=$flag=
    cur=${cur#*=}
  fi
)";
constexpr std::string_view kScriptEnd =
    R"(  COMPREPLY=($(compgen -P "$before" -W "$words" -- "$cur"))
}
)";

// The lines of the script's two tables, each a pattern and its words.
struct Tables {
  std::string choices = {};  // ls:--mode) words="a b" ;;
  std::string flags = {};    // ls) words="--mode --json" ;;
};

// Returns the names of the app's flags. verb: a pattern.
std::string AddChoices(const CLI::App& app, const std::string& verb,
                       std::string& choices) {
  std::string names;
  for (const CLI::Option* const option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) {
      if (option->get_group().empty()) {
        continue;
      }
      names += " --" + name;
      if (const auto words = ChoicesOf(*option); !words.empty()) {
        choices += fmt::format("    {}:--{}) words=\"{}\" ;;\n", verb, name,
                               fmt::join(words, " "));
      }
    }
  }
  for (const CLI::App* const part : app.get_subcommands(
           [](const CLI::App* one) { return one->get_name().empty(); })) {
    names += AddChoices(*part, verb, choices);
  }
  return names;
}

void AddFlags(const CLI::App& app, const std::string& verb, Tables& tables) {
  const std::string names = AddChoices(app, verb, tables.choices);
  tables.flags += fmt::format("    {}) words=\"{}\" ;;\n", verb, names);
}

}  // namespace

std::vector<std::string> ChoicesOf(const CLI::Option& option) {
  std::string text = option.get_option_text().empty()
                         ? option.get_type_name()
                         : option.get_option_text();
  if (text.starts_with("[=")) {  // "[=a|b]"
    text = text.substr(2, text.find(']') - 2);
  }
  text = text.substr(0, text.find_first_of("=:"));  // "a|b=a"
  return text.find('|') == std::string::npos ? std::vector<std::string>()
                                             : CLI::detail::split(text, '|');
}

std::string BashCompletion(const CLI::App& app) {
  Tables tables;
  std::string verbs;
  for (const CLI::App* const verb : app.get_subcommands(
           [](const CLI::App* one) { return !one->get_name().empty(); })) {
    verbs += " " + verb->get_name();
    AddFlags(*verb, verb->get_name(), tables);
  }
  AddFlags(app, "*", tables);
  const std::string& name = app.get_name();
  return fmt::format(
      "# Completion of {0} in bash, written by {0} --bash_completion.\n_{0}{1}"
      "  ((COMP_CWORD == 1)) && words=\"{2}\"\n"
      "  case $verb:$flag in\n{3}  esac\n"
      "  [[ $cur == -* ]] && case $verb in\n{4}  esac\n"
      "{5}complete -o default -F _{0} {0}\n",
      name, kScriptBegin, verbs, tables.choices, tables.flags, kScriptEnd);
}

}  // namespace infeed

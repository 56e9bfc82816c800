#include <map>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "tools/man_page.h"

namespace infeed {
namespace {

// What is completed after a flag.
using Values = std::map<std::string, std::string>;  // flag -> compgen's words

// Long names that --help shows, with their values.
std::string FlagsOf(const CLI::App& app, Values& values) {
  std::string flags;
  for (const CLI::Option* option : app.get_options()) {
    if (option->get_group().empty() || !option->nonpositional()) {
      continue;
    }
    const std::string type = option->get_type_name();
    for (const std::string& name : option->get_lnames()) {
      flags += " --" + name;
      if (type.find('|') != std::string::npos) {
        std::string words = type;
        std::replace(words.begin(), words.end(), '|', ' ');
        values["--" + name] = "-W \"" + words + "\"";
      } else if (type == "DIR") {
        values["--" + name] = "-d";
      } else if (type == "FILE" || type == "PATH") {
        values["--" + name] = "-f";
      } else if (option->get_expected_max() > 0) {
        values["--" + name] = "-W \"\"";
      }
    }
  }
  return flags;
}

std::string ValueCases(const Values& values) {
  std::string text = "  case $prev in\n";
  for (const auto& [flag, words] : values) {
    text += "    " + flag + ") COMPREPLY=($(compgen " + words +
            " -- \"$cur\")); return ;;\n";
  }
  return text + "  esac\n";
}

}  // namespace

std::string BashCompletion(const CLI::App& app) {
  const std::string name = app.get_name();
  Values values;
  std::string words = FlagsOf(app, values);
  std::string verbs;
  for (const CLI::App* verb :
       app.get_subcommands([](const CLI::App*) { return true; })) {
    verbs += "      " + verb->get_name() + ") words=\"" +
             FlagsOf(*verb, values) + "\" ;;\n";
    words += " " + verb->get_name();
  }
  // "--flag=value" comes as three words.
  return "# Completion of " + name + " in bash; it wrote this itself.\n_" +
         name +
         "() {\n"
         "  local cur=${COMP_WORDS[COMP_CWORD]}\n"
         "  local prev=${COMP_WORDS[COMP_CWORD-1]}\n"
         "  local words=\"" +
         words +
         "\"\n"
         "  if [[ $cur == = ]]; then\n"
         "    cur=\n"
         "  elif [[ $prev == = ]]; then\n"
         "    prev=${COMP_WORDS[COMP_CWORD-2]}\n"
         "  fi\n" +
         ValueCases(values) +
         (verbs.empty() ? ""
                        : "  if ((COMP_CWORD > 1)); then\n"
                          "    case ${COMP_WORDS[1]} in\n" +
                              verbs + "    esac\n  fi\n") +
         "  COMPREPLY=($(compgen -W \"$words\" -- \"$cur\"))\n"
         "}\n"
         "complete -o default -F _" +
         name + " " + name + "\n";
}

}  // namespace infeed

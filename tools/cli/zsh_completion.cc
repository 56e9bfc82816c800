#include <string>
#include <string_view>
#include <vector>

#include "tools/cli/completion.h"
#include "tools/cli/man_page.h"

namespace infeed {
namespace {

using Values = CompletedFlag::Values;

std::string QuotedForZsh(std::string_view text) {
  std::string quoted = "'";
  for (const char c : text) {
    quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  }
  return quoted + "'";
}

// Escapes the parts of a specification.
std::string EscapedForZsh(std::string_view text) {
  return WithBackslashes(text, "\\:[]");
}

std::string ActionOf(const CompletedFlag& flag) {
  switch (flag.values) {
    case Values::kWords:
      return "(" + JoinedWords(flag.words) + ")";
    case Values::kFiles:
      return "_files";
    case Values::kFolders:
      return "_files -/";
    case Values::kParameters:
      return "_@NAME@_parameters";
    default:
      return " ";
  }
}

// Removes the continuation mark of the last line.
std::string WithoutContinuation(const std::string& lines) {
  return lines.substr(0, lines.rfind(" \\\n")) + "\n";
}

// A flag as an argument of _arguments: "--mode=[what to do]:value:(train
// eval)".
std::string SpecificationOf(const CompletedFlag& flag) {
  std::string text = (flag.is_repeated ? "*" : "") + flag.name;
  const bool has_value = flag.values != Values::kNone;
  if (has_value) {
    text += !flag.name.starts_with("--") ? "+" : flag.needs_equals ? "=-" : "=";
  }
  text += "[" + EscapedForZsh(flag.about) + "]";
  if (has_value) {
    text +=
        std::string(flag.needs_equals ? "::" : ":") + "value:" + ActionOf(flag);
  }
  return "    " + QuotedForZsh(text) + " \\\n";
}

std::string SpecificationsOf(const std::vector<CompletedFlag>& flags) {
  std::string text;
  for (const CompletedFlag& flag : flags) {
    text += SpecificationOf(flag);
  }
  return text;
}

// The parameters as arguments of _values.
std::string ParametersOf(const Completion& completion) {
  std::string text;
  for (const CompletedFlag& flag : completion.parameters()) {
    text += "    " +
            QuotedForZsh(flag.name.substr(2) + "[" + EscapedForZsh(flag.about) +
                         "]:value:" + ActionOf(flag)) +
            " \\\n";
  }
  return text.empty()
             ? ""
             : "_@NAME@_parameters() {\n  _values -s , parameter \\\n" +
                   WithoutContinuation(text) + "}\n";
}

std::string VerbCases(const std::vector<CompletedVerb>& verbs) {
  std::string text;
  for (const CompletedVerb& verb : verbs) {
    text += "  " + verb.name + ") _arguments -S \\\n" +
            SpecificationsOf(verb.flags) + "    '*:file:_files' ;;\n";
  }
  return text;
}

std::string VerbsOf(const std::vector<CompletedVerb>& verbs) {
  std::string text = "1:verb:((";
  for (const CompletedVerb& verb : verbs) {
    text += verb.name + "\\:\"" + WithBackslashes(verb.about, "\\\"") + "\" ";
  }
  return "    " + QuotedForZsh(text + "))") +
         " \\\n    '*::argument:->argument' \\\n";
}

}  // namespace

std::string ZshCompletion(const CLI::App& app) {
  const Completion completion = DescribeCompletion(app);
  const std::string flags = SpecificationsOf(completion.flags);
  const bool has_verbs = !completion.verbs.empty();
  const std::string body =
      has_verbs
          ? "local context state line\ntypeset -A opt_args\n"
            "_arguments -C -S \\\n" +
                WithoutContinuation(flags + VerbsOf(completion.verbs)) +
                "case $line[1] in\n" + VerbCases(completion.verbs) + "esac\n"
          : "_arguments -S \\\n" + WithoutContinuation(flags);
  return Filled(
      "#compdef @NAME@\n"
      "# Completion of @NAME@ in zsh, written by @NAME@ --zsh_completion.\n" +
          ParametersOf(completion) + body,
      {{"@NAME@", completion.program}});
}

}  // namespace infeed

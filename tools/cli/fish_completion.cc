#include <string>
#include <string_view>
#include <vector>

#include "tools/cli/completion.h"
#include "tools/cli/man_page.h"

namespace infeed {
namespace {

using Values = CompletedFlag::Values;

std::string Quoted(std::string_view text) {
  return "'" + WithBackslashes(text, "\\'") + "'";
}

// The arguments of `complete` for a flag's values.
std::string ValuesOf(const CompletedFlag& flag) {
  // Without -r a value may only follow "=".
  const std::string required = flag.needs_equals ? "" : " -r";
  switch (flag.values) {
    case Values::kNone:
      return "";
    case Values::kWords:
      return required + " -f -a " + Quoted(JoinedWords(flag.words));
    case Values::kFiles:
      return required + " -F";
    case Values::kFolders:
      return required + " -f -a '(__fish_complete_directories)'";
    case Values::kParameters:
      return required + " -f -a '(__@NAME@_parameters)'";
    case Values::kAny:
      return required + " -f";
  }
  return "";
}

std::string LinesOf(const CompletedVerb& verb) {
  const std::string condition =
      verb.name.empty() ? ""
                        : " -n '__fish_seen_subcommand_from " + verb.name + "'";
  std::string lines;
  for (const CompletedFlag& flag : verb.flags) {
    const bool is_long = flag.name.starts_with("--");
    lines += "complete -c @NAME@" + condition + (is_long ? " -l " : " -s ") +
             flag.name.substr(is_long ? 2 : 1) + ValuesOf(flag) + " -d " +
             Quoted(flag.about) + "\n";
  }
  return lines;
}

// Keeps the text before the last comma, as fish completes whole words.
constexpr std::string_view kParameters = R"(function __@NAME@_parameters
  set -l token (commandline -ct | string replace -r -- '^--[^=]*=' '')
  set -l before (string match -r -- '^.*,' "$token")
  if string match -q -r -- '=[^,]*$' "$token"
    for pair in @PAIRS@
      echo "$before$pair"
    end
  else
    for name in @PARAMETERS@
      echo "$before$name="
    end
  end
end
)";

std::string PairsOf(const std::vector<CompletedFlag>& parameters) {
  std::string pairs;
  for (const CompletedFlag& flag : parameters) {
    for (const std::string& word : flag.words) {
      pairs += Quoted(flag.name.substr(2) + "=" + word) + " ";
    }
  }
  return pairs;
}

std::string ParameterLines(const std::vector<CompletedFlag>& parameters) {
  std::string names;
  for (const CompletedFlag& flag : parameters) {
    names += flag.name.substr(2) + " ";
  }
  return names;
}

}  // namespace

std::string FishCompletion(const CLI::App& app) {
  const Completion completion = DescribeCompletion(app);
  const std::vector<CompletedFlag> parameters = completion.parameters();
  std::string script =
      "# Completion of @NAME@ in fish, written by @NAME@ --fish_completion.\n" +
      std::string(parameters.empty() ? "" : kParameters) +
      (completion.verbs.empty() ? "complete -c @NAME@ -f\n" : "") +
      LinesOf({.flags = completion.flags});
  for (const CompletedVerb& verb : completion.verbs) {
    script += "complete -c @NAME@ -n __fish_use_subcommand -f -a " + verb.name +
              " -d " + Quoted(verb.about) + "\n" + LinesOf(verb);
  }
  return Filled(std::move(script),
                {{"@PAIRS@", PairsOf(parameters)},
                 {"@PARAMETERS@", ParameterLines(parameters)},
                 {"@NAME@", completion.program}});
}

}  // namespace infeed

#include <string>
#include <vector>

#include "tools/cli/completion.h"
#include "tools/cli/man_page.h"

namespace infeed {
namespace {

using Values = CompletedFlag::Values;

// The arguments with which compgen offers a flag's values.
std::string OfferOf(const CompletedFlag& flag) {
  switch (flag.values) {
    case Values::kFiles:
      return "-f";
    case Values::kFolders:
      return "-d";
    default:
      return "-W \"" + JoinedWords(flag.words) + "\"";
  }
}

// The case patterns VERB:FLAG, with a "=" if the value follows "=".
std::string CasesOf(const CompletedVerb& verb) {
  std::string cases;
  for (const CompletedFlag& flag : verb.flags) {
    const std::string name = verb.name + ":" + flag.name;
    const std::string effect = flag.values == Values::kParameters
                                   ? "parameters=1"
                                   : "offer=(" + OfferOf(flag) + ")";
    if (flag.values != Values::kNone) {
      cases += "    " + (flag.needs_equals ? "" : name + "|") + name + "=) " +
               effect + " ;;\n";
    }
  }
  return cases;
}

std::string NamesOf(const std::vector<CompletedFlag>& flags) {
  std::string names;
  for (const CompletedFlag& flag : flags) {
    names += (names.empty() ? "" : " ") + flag.name;
  }
  return names;
}

std::string ParameterNames(const Completion& completion) {
  std::string names;
  for (const CompletedFlag& flag : completion.parameters()) {
    names += flag.name.substr(2) + "= ";
  }
  return names;
}

// The common script of all programs; @NAME@ is the program's name. Bash splits
// words at "=", so the script first joins the word at the cursor.
constexpr std::string_view kFunction = R"(_@NAME@() {
  local at=$COMP_CWORD cur=${COMP_WORDS[COMP_CWORD]} verb= words="@FLAGS@"
  local word=$cur offer=() parameters=
  while ((at > 1)) &&
    [[ ${COMP_WORDS[at]} == = || ${COMP_WORDS[at - 1]} == = ]]; do
    ((at--))
    word=${COMP_WORDS[at]}$word
  done
  if ((at > 1)); then
    case ${COMP_WORDS[1]} in
@VERBS@    esac
  fi
  local flag=${COMP_WORDS[at - 1]} value=$word
  if [[ $word == --*=* ]]; then
    flag=${word%%=*}= value=${word#*=}
  fi
  _@NAME@_values "$verb:$flag"
  if [[ $parameters ]]; then
    value=${value##*,}
    if [[ $value == *=* ]]; then
      offer=(-W "")
      _@NAME@_values ":--${value%%=*}="
      value=${value#*=}
    else
      offer=(-W "@PARAMETERS@")
      compopt -o nospace 2>/dev/null
    fi
  elif [[ ! $offer ]]; then
    offer=(-W "$words")
    [[ $verb && $word != -* ]] && offer=(-f)
  fi
  [[ $cur == = ]] && cur=
  [[ $offer == -[fd] ]] && compopt -o filenames 2>/dev/null
  mapfile -t COMPREPLY < <(compgen -P "${cur%"$value"}" "${offer[@]}" -- "$value")
}
complete -o default -F _@NAME@ @NAME@
)";

}  // namespace

std::string BashCompletion(const CLI::App& app) {
  const Completion completion = DescribeCompletion(app);
  std::string words = NamesOf(completion.flags);
  std::string cases = CasesOf({.flags = completion.flags});
  std::string verbs;
  for (const CompletedVerb& verb : completion.verbs) {
    words += " " + verb.name;
    cases += CasesOf(verb);
    verbs += "      " + verb.name + ") verb=" + verb.name + " words=\"" +
             NamesOf(verb.flags) + "\" ;;\n";
  }
  return Filled(
      "# Completion of @NAME@ in bash, written by @NAME@ --bash_completion.\n"
      "_@NAME@_values() {\n  case $1 in\n" +
          cases + "  esac\n}\n" + std::string(kFunction),
      {{"@FLAGS@", words},
       {"@VERBS@", verbs},
       {"@PARAMETERS@", ParameterNames(completion)},
       {"@NAME@", completion.program}});
}

}  // namespace infeed

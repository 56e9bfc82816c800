#include "tools/cli/flags.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <iostream>
#include <iterator>
#include <memory>
#include <new>
#include <string_view>
#include <utility>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/print_lines.h"
#include "records/bytes/nearest_name.h"
#include "records/bytes/plain_text.h"
#include "records/bytes/whole_number.h"
#include "tools/cli/build_version.h"
#include "tools/cli/help_text.h"

namespace infeed {
namespace {

// The type names of flags that take a number.
constexpr std::string_view kNumberTypes[] = {"INT", "UINT",    "FLOAT", "N",
                                             "R",   "SECONDS", "PORT"};

// The group of --help, --help_all and --version, which comes last.
constexpr const char* kHelpGroup = "Help";

// The default text of options that are switches with an optional value.
constexpr std::string_view kOn = "true";

int Fail(std::string_view program, std::string_view message, ExitCode code) {
  std::cout.flush();  // Results first if both streams go to the same place.
  PrintLine(fmt::format("{}: {}", program, message));
  return static_cast<int>(code);
}

// "--max-shards=a-b" -> "--max_shards=a-b"; other arguments are unchanged.
std::string WithUnderscores(std::string argument) {
  if (argument.size() > 2 && argument.starts_with("--")) {
    const auto end = std::find(argument.begin(), argument.end(), '=');
    std::replace(argument.begin() + 2, end, '-', '_');
  }
  return argument;
}

std::vector<std::string> Arguments(int argc, char** argv) {
  std::vector<std::string> arguments;
  bool flags = true;
  for (int i = 1; i < argc; ++i) {
    flags = flags && std::string_view(argv[i]) != "--";
    arguments.push_back(flags ? WithUnderscores(argv[i]) : argv[i]);
  }
  return arguments;
}

// Opens the null device where stdin, stdout or stderr is closed: else the next
// file opened would get its number, and messages would be written into it.
void OpenStandardDescriptors() {
  int descriptor = -1;
  do {
    descriptor = ::open("/dev/null", O_RDWR);
  } while (descriptor >= 0 && descriptor <= STDERR_FILENO);
  ::close(descriptor);
}

// The flag of this name in the verb of the words so far; nullptr: none.
const CLI::Option* FindFlag(const CLI::App& app, const std::string& word) {
  return word.size() > 2 && word.starts_with("--")
             ? app.get_option_no_throw(word.substr(0, word.find('=')))
             : nullptr;
}

// Whether a flag is a switch, on or off. A flag whose value is optional has its
// forms in its option text, "[=FILE]".
bool IsSwitch(const CLI::Option& flag) {
  const bool has_no_value = flag.get_items_expected_max() == 0 &&
                            flag.get_option_text().empty() &&
                            flag.get_group() != kHelpGroup;
  return has_no_value || flag.get_default_str() == kOn;
}

// "--noNAME" and "--no_NAME", as of absl's flags: "--NAME=false", if NAME is a
// switch; other words are unchanged.
std::string WithoutNo(const CLI::App& verb, const std::string& word) {
  if (!word.starts_with("--no") || FindFlag(verb, word) != nullptr) {
    return word;
  }
  const std::string name = word.substr(word.starts_with("--no_") ? 5 : 4);
  const CLI::Option* const flag = FindFlag(verb, "--" + name);
  if (flag != nullptr && IsSwitch(*flag)) {
    return "--" + name + "=false";
  }
  return FindFlag(verb, "--no_" + name) != nullptr ? "--no_" + name : word;
}

bool LooksLikeFlag(const std::string& word) {
  return word.size() > 2 && word.starts_with("--") && word[2] >= 'a' &&
         word[2] <= 'z';
}

// Resolves WithoutNo(), and corrects two cases that CLI11 parses wrongly: it
// takes a flag that follows a flag without its value for that value; and it
// takes "--name=" for "--name", so that the next word becomes the value. Throws
// UsageError in the first case; in the second the value is "".
std::vector<std::string> WithValues(CLI::App& app,
                                    const std::vector<std::string>& words) {
  std::vector<std::string> with_values;
  CLI::App* verb = &app;
  for (std::size_t i = 0; i < words.size() && words[i] != "--"; ++i) {
    const std::string word = WithoutNo(*verb, words[i]);
    const std::vector<CLI::App*> verbs = verb->get_subcommands(
        [&word](const CLI::App* one) { return one->check_name(word); });
    verb = word.empty() || verbs.empty() ? verb : verbs.front();
    const CLI::Option* const flag = FindFlag(*verb, word);
    const bool has_equals = word.find('=') != std::string::npos;
    if (flag != nullptr && flag->get_items_expected_min() > 0 && !has_equals &&
        i + 1 < words.size() && LooksLikeFlag(words[i + 1])) {
      throw UsageError(word + ": its value is missing, the flag " +
                       words[i + 1] + " comes next");
    }
    const bool is_empty = flag != nullptr && word.ends_with('=') &&
                          flag->get_items_expected_max() > 0;
    with_values.push_back(is_empty ? word.substr(0, word.size() - 1) : word);
    if (is_empty) {
      with_values.emplace_back();
    }
  }
  const auto rest = std::ranges::find(words, "--");
  with_values.insert(with_values.end(), rest, words.end());
  return with_values;
}

// The type's name, which --help shows, without what a check adds to it.
std::string TypeName(const CLI::Option& option) {
  const std::string type = option.get_type_name();
  return type.substr(0, type.find(':'));
}

bool TakesNumber(const CLI::Option& option) {
  return std::ranges::find(kNumberTypes, TypeName(option)) !=
         std::end(kNumberTypes);
}

// Why CLI11 would read another number than the text's: it takes 010 for 8, an
// unsigned -1 for the largest number, and so what is too large; "": it does
// not.
std::string WhyMisread(const std::string& text, std::string_view type) {
  if (HasLeadingZero(text)) {
    return text + " has a leading zero, numbers here have none";
  }
  if (type == "UINT" && text.starts_with('-')) {
    return text + " is below 0";
  }
  const bool is_whole =
      !text.empty() && text.find_first_not_of("0123456789") == text.npos;
  const bool fits = type == "UINT"
                        ? ParseWholeNumber<std::uint64_t>(text).has_value()
                        : ParseWholeNumber<std::int64_t>(text).has_value();
  const bool is_integer = type == "UINT" || type == "INT" || type == "N";
  return is_integer && is_whole && !fits ? text + " is too large"
                                         : std::string();
}

void PrepareHelp(CLI::App& app, const std::shared_ptr<HelpText>& help) {
  app.formatter(help);
  if (app.get_name().empty()) {  // Options of which one is given.
    app.set_help_flag();
    return;
  }
  Common(app.set_help_flag("-h,--help", "Print this help and exit."))
      ->group(kHelpGroup);
  Common(app.set_help_all_flag("--help_all",
                               "Print all flags, the rare ones too, and exit."))
      ->group(kHelpGroup);
}

// Sets the help of the app and its verbs, lets the last of a switch's values
// win, and rejects numbers that CLI11 misreads.
void PrepareFlags(CLI::App& app, const std::shared_ptr<HelpText>& help) {
  PrepareHelp(app, help);
  for (CLI::Option* const option : app.get_options()) {
    if (IsSwitch(*option)) {
      option->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
    }
    if (TakesNumber(*option)) {
      option->check(
          [type = TypeName(*option)](const std::string& text) {
            return WhyMisread(text, type);
          },
          "");
    }
  }
  for (CLI::App* const verb : app.get_subcommands({})) {
    verb->group(verb->get_name().empty() ? verb->get_group() : "Verbs");
    PrepareFlags(*verb, help);
  }
}

std::vector<std::string> VerbNames(const std::vector<const CLI::App*>& verbs) {
  std::vector<std::string> names;
  for (const CLI::App* const verb : verbs) {
    names.push_back(verb->get_name());
  }
  std::erase(names, "");  // Options of which one is given.
  return names;
}

// prefix: of each known name on the command line.
std::string DidYouMean(std::string_view unknown, std::string_view prefix,
                       const std::vector<std::string>& known,
                       std::string_view otherwise) {
  unknown.remove_prefix(
      std::min(unknown.find_first_not_of('-'), unknown.size()));
  const std::string_view nearest = NearestName(
      unknown, std::vector<std::string_view>(known.begin(), known.end()));
  return nearest.empty() ? std::string(otherwise)
                         : fmt::format("did you mean '{}{}'?", prefix, nearest);
}

// Says of a word that the app, or one of its verbs, does not know what was
// probably meant. path: the program, and its verb.
std::string UnknownText(const CLI::App& app, const std::string& path,
                        const std::string& word) {
  if (!word.starts_with('-')) {
    const std::vector<std::string> verbs = VerbNames(app.get_subcommands({}));
    return verbs.empty()
               ? fmt::format(
                     "'{}': not a flag, nor the value of one (see {} "
                     "--help)",
                     word, path)
               : fmt::format("unknown verb '{}': {}", word,
                             DidYouMean(word, "", verbs,
                                        fmt::format("it is one of {}",
                                                    fmt::join(verbs, ", "))));
  }
  std::vector<std::string> names;
  for (const CLI::Option* const option : app.get_options()) {
    const std::vector<std::string>& more = option->get_lnames();
    names.insert(names.end(), more.begin(), more.end());
  }
  const std::string flag = word.substr(0, word.find('='));
  return fmt::format(
      "unknown flag '{}': {}", flag,
      DidYouMean(flag, "--", names, fmt::format("see {} --help_all", path)));
}

// Throws UsageError for the first word that the app and its verb do not know.
void RefuseUnknown(const CLI::App& app, const std::string& path) {
  const std::vector<std::string> unknown = app.remaining();
  if (!unknown.empty()) {
    throw UsageError(UnknownText(app, path, unknown.front()));
  }
  for (const CLI::App* const verb : app.get_subcommands()) {
    RefuseUnknown(
        *verb, verb->get_name().empty() ? path : path + " " + verb->get_name());
  }
}

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

int RunMain(int argc, char** argv,
            const std::function<ProgramEnd(int argc, char** argv)>& program) {
  OpenStandardDescriptors();
  const std::string_view name = BaseName(argc > 0 ? argv[0] : "infeed");
  try {
    const ProgramEnd end = program(argc, argv);
    std::cout.flush();
    if (std::fflush(stdout) != 0 || !std::cout) {
      return Fail(name, "cannot write the results to standard output",
                  ExitCode::kRuntimeError);
    }
    return end.code == ExitCode::kDone ? 0 : Fail(name, end.reason, end.code);
  } catch (const UsageError& error) {
    return Fail(name, error.what(), ExitCode::kUsageError);
  } catch (const DataError& error) {
    return Fail(name, error.what(), ExitCode::kDataError);
  } catch (const std::bad_alloc&) {
    return Fail(name,
                "out of memory: the system refused more; fewer --threads and a "
                "smaller memory_limit need less",
                ExitCode::kRuntimeError);
  } catch (const std::exception& error) {  // IoError, and errors of libraries
    return Fail(name, error.what(), ExitCode::kRuntimeError);
  }
}

bool ParseFlags(CLI::App& app, int argc, char** argv) {
  const std::string name(BaseName(argc > 0 ? argv[0] : "infeed"));
  app.name(name);
  Common(app.set_version_flag("--version",
                              name + " (infeed) " +
                                  std::string(BuildVersion()) + ", commit " +
                                  std::string(BuildCommit()),
                              "Print the version and exit."))
      ->group(kHelpGroup);
  app.add_flag_callback(
         "--bash_completion",
         [&app] { throw CLI::CallForVersion(BashCompletion(app), 0); })
      ->group("");
  PrepareFlags(app, std::make_shared<HelpText>());
  std::vector<std::string> arguments = WithValues(app, Arguments(argc, argv));
  std::ranges::reverse(arguments);  // the order that the app expects
  try {
    app.parse(std::move(arguments));
  } catch (const CLI::Success& answer) {  // --help, --version
    if (answer.get_name() == "CallForHelp") {
      HideRareFlags(app);
    }
    app.exit(answer, std::cout, std::cerr);
    return false;
  } catch (const CLI::ValidationError& error) {
    throw UsageError(std::string(error.what()) + " (see " + name + " --help)");
  } catch (const CLI::ParseError& error) {
    RefuseUnknown(app,
                  name);  // A misspelt flag may be the one that is missing.
    throw UsageError(std::string(error.what()) + " (see " + name + " --help)");
  }
  return true;
}

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

#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace CLI {
class App;
}

// Describes, from a program's flags, what a shell can complete on its command
// line; the functions of man_page.h print it for each shell.
namespace infeed {

struct CompletedFlag {
  enum class Values {
    kNone,  // a switch
    kAny,   // a value without suggestions
    kWords,
    kFiles,
    kFolders,
    // The program's parameters, as NAME=VALUE,NAME=VALUE.
    kParameters,
  };

  std::string name = {};  // "--mode", "-n"
  std::string about = {};
  Values values = Values::kNone;
  std::vector<std::string> words = {};  // of kWords
  bool needs_equals = false;            // --json=FILE; --json alone is a switch
  bool is_repeated = false;
  bool is_parameter = false;  // also usable in a kParameters value
};

struct CompletedVerb {
  std::string name = {};  // empty: the program's own flags
  std::string about = {};
  std::vector<CompletedFlag> flags = {};
};

struct Completion {
  std::string program;
  std::vector<CompletedFlag> flags = {};
  std::vector<CompletedVerb> verbs = {};

  // Flags that are parameters.
  [[nodiscard]] std::vector<CompletedFlag> parameters() const;
};

// Returns the flags that --help shows, and their values: the choices of an
// option whose text or type is "a|b|c" or that is checked against a set; files
// for the types FILE and PATH, folders for DIR, parameters for "NAME=VALUE".
[[nodiscard]] Completion DescribeCompletion(const CLI::App& app);

// Names the kind of a flag's value for help and completion, where its C++ type
// does not show it: {"--output", "DIR"}. Requires: the app has the flags.
void NameValues(
    CLI::App& app,
    std::initializer_list<std::pair<const char*, const char*>> values);

// The "@PLACE@"s of a script and their replacements, in this order.
using Places = std::vector<std::pair<std::string_view, std::string>>;
[[nodiscard]] std::string Filled(std::string script, const Places& places);

// "a b c".
[[nodiscard]] std::string JoinedWords(const std::vector<std::string>& words);

// Text with a backslash before each of these characters.
[[nodiscard]] std::string WithBackslashes(std::string_view text,
                                          std::string_view characters);

}  // namespace infeed

#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace CLI {
class App;
}

// What a shell can complete of a program's command line, taken from its flags:
// one description, which man_page.h's functions print for each shell.
namespace infeed {

struct CompletedFlag {
  enum class Values {
    kNone,  // a switch
    kAny,   // that nothing can be offered for
    kWords,
    kFiles,
    kFolders,
    // NAME=VALUE,NAME=VALUE of the program's parameters.
    kParameters,
  };

  std::string name = {};  // "--mode", "-n"
  std::string about = {};
  Values values = Values::kNone;
  std::vector<std::string> words = {};  // of kWords
  bool needs_equals = false;            // --json=FILE; alone it is a switch
  bool is_repeated = false;
  bool is_parameter = false;  // of kParameters as well
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

// Flags that --help shows, and their values: those of an option whose text or
// type is "a|b|c", or that is checked to be one of a set; FILE and PATH mean
// files, DIR folders, "NAME=VALUE" parameters.
[[nodiscard]] Completion DescribeCompletion(const CLI::App& app);

// Names what values of flags are where their C++ type does not show it, for
// help and completion: {"--output", "DIR"}. Requires: the app has the flags.
void NameValues(
    CLI::App& app,
    std::initializer_list<std::pair<const char*, const char*>> values);

// A script with its "@PLACE@"s replaced in this order.
using Places = std::vector<std::pair<std::string_view, std::string>>;
[[nodiscard]] std::string Filled(std::string script, const Places& places);

// "a b c".
[[nodiscard]] std::string JoinedWords(const std::vector<std::string>& words);

// Text with a backslash before each of these characters.
[[nodiscard]] std::string WithBackslashes(std::string_view text,
                                          std::string_view characters);

}  // namespace infeed

#pragma once

#include <sys/wait.h>
#include <wordexp.h>

#include <cstdint>
#include <cstdlib>
#include <ostream>
#include <stdexcept>
#include <string>
#include <vector>

#include "base/atomic_file.h"
#include "base/error.h"
#include "tests/support/temporary_folder.h"

#include "gmock/gmock.h"

namespace infeed {

// The outcome of a program.
struct ProgramResult {
  int exit_code = -1;
  std::string out;
  std::string err;
};

// How an expectation that failed shows it.
inline void PrintTo(const ProgramResult& result, std::ostream* out) {
  *out << "exit code " << result.exit_code << ", stdout:\n"
       << result.out << "stderr:\n"
       << result.err;
}

// Matches a program that ends with the code, and whose stderr matches.
template <typename Err = decltype(testing::_)>
[[nodiscard]] auto Ends(int code, const Err& err = testing::_) {
  return testing::AllOf(
      testing::Field("exit_code", &ProgramResult::exit_code, code),
      testing::Field("err", &ProgramResult::err, err));
}

// The outcome of a program that must succeed: else the test ends here.
[[nodiscard]] inline ProgramResult Succeeded(ProgramResult result) {
  if (result.exit_code != 0) {
    throw std::runtime_error("exit code " + std::to_string(result.exit_code) +
                             "\n" + result.err);
  }
  return result;
}

// The words of a line as a shell makes them, with quotes and patterns of files.
inline std::vector<std::string> ShellWords(const std::string& line) {
  wordexp_t found{};
  Check(::wordexp(line.c_str(), &found, WRDE_NOCMD) == 0,
        "the line is one of plain words");
  std::vector<std::string> words(found.we_wordv,
                                 found.we_wordv + found.we_wordc);
  ::wordfree(&found);
  return words;
}

// Runs a program of ours, or one with an absolute path, with arguments as a
// shell takes them, and waits for its end. first: what the shell does before,
// as "ulimit -v 1000;".
inline ProgramResult RunProgram(const std::string& name,
                                const std::string& arguments,
                                const std::string& first = "") {
  constexpr std::int64_t kMaxBytes = 1 << 20;
  const TemporaryFolder folder;
  const std::string path =
      name.starts_with('/') ? name : INFEED_PROGRAMS "/" + name;
  const std::string command = first + " " + path + " " + arguments + " >" +
                              (folder / "out") + " 2>" + (folder / "err") +
                              " </dev/null";
  const int status = std::system(command.c_str());
  Check(WIFEXITED(status), "a program ends by itself");
  return {.exit_code = WEXITSTATUS(status),
          .out = ReadWholeFile(folder / "out", kMaxBytes),
          .err = ReadWholeFile(folder / "err", kMaxBytes)};
}

}  // namespace infeed

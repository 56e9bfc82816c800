#pragma once

#include <sys/wait.h>

#include <cstdint>
#include <cstdlib>
#include <string>

#include "base/atomic_file.h"
#include "base/error.h"
#include "tests/support/temporary_folder.h"

namespace infeed {

// The outcome of a program.
struct ProgramResult {
  int exit_code = -1;
  std::string out;
  std::string err;
};

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

#pragma once

#include <string>
#include <utility>

#include "base/error.h"

namespace infeed {

// How a program ended. Of each end but kDone, RunMain() prints the reason as
// the last line on stderr.
struct ProgramEnd {
  // NOLINTNEXTLINE(google-explicit-constructor): most ends are kDone
  ProgramEnd(ExitCode end) : code(end) {}
  ProgramEnd(ExitCode end, std::string why)
      : code(end), reason(std::move(why)) {}

  ExitCode code;
  std::string reason;
};

}  // namespace infeed

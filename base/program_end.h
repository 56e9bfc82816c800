#pragma once

#include <string>
#include <utility>

#include "base/error.h"

namespace infeed {

// How a program ended. Of each end but kDone, RunMain() prints the reason as
// the last line on stderr.
struct ProgramEnd {
  // NOLINTNEXTLINE(google-explicit-constructor): most ends are kDone
  ProgramEnd(ExitCode code) : code(code) {}
  ProgramEnd(ExitCode code, std::string reason)
      : code(code), reason(std::move(reason)) {}

  ExitCode code;
  std::string reason;
};

}  // namespace infeed

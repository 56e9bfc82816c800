#pragma once

#include "base/error.h"

namespace infeed {

// Thrown when a stop request (a signal) ends the current work. Not a failure:
// programs exit with kStoppedBySignal.
class StoppedError : public IoError {
 public:
  StoppedError() : IoError("stopped by a signal") {}
};

}  // namespace infeed

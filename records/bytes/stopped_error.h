#pragma once

#include "base/error.h"

namespace infeed {

// The work at hand ends because a signal asked for it. Nothing is wrong:
// programs end with kStoppedBySignal.
class StoppedError : public IoError {
 public:
  StoppedError() : IoError("stopped by a signal") {}
};

}  // namespace infeed

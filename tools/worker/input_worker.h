#pragma once

#include "base/program_end.h"

namespace infeed {

// The program input_worker, for RunMain(): fills ranges of batches for trainers
// on other machines.
[[nodiscard]] ProgramEnd InputWorker(int argc, char** argv);

}  // namespace infeed

#pragma once

#include "base/program_end.h"

namespace infeed {

// The program train_resnet, for RunMain(), but for what it does before LibTorch
// is loaded. Tests call it as well, several times in one process, which must
// not be done with --local_ranks: that starts this process's program.
[[nodiscard]] ProgramEnd TrainResnet(int argc, char** argv);

}  // namespace infeed

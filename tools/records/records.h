#pragma once

#include "base/program_end.h"

namespace infeed {

// The program records, for RunMain(): inspects, repairs and reshapes shards.
[[nodiscard]] ProgramEnd Records(int argc, char** argv);

}  // namespace infeed

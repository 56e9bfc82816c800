#pragma once

#include "base/program_end.h"

namespace infeed {

// The program imagenet_to_records, for RunMain(): turns images into shards.
[[nodiscard]] ProgramEnd ImagenetToRecords(int argc, char** argv);

}  // namespace infeed

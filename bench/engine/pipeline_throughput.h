#pragma once

#include "base/program_end.h"

namespace infeed {

// The program pipeline_throughput, for RunMain(): measures the images per
// second of the input pipeline on some shards, where the time is spent, and
// what would make it faster.
[[nodiscard]] ProgramEnd PipelineThroughput(int argc, char** argv);

}  // namespace infeed

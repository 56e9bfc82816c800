#pragma once

#include "trainer/job/job.h"
#include "trainer/log/run_origin.h"

// Describes a training run in its model directory.
namespace infeed {

// How the job was started, its machine and its data.
[[nodiscard]] RunOrigin OriginOf(const Job& job);

// Writes params.yaml, with the origin as comments, and labels.txt. Throws
// IoError.
void WriteDescription(const Job& job);

}  // namespace infeed

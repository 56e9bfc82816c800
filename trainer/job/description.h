#pragma once

#include "trainer/job/job.h"
#include "trainer/log/run_origin.h"

// What a model folder says of the training in it.
namespace infeed {

// How the job was started, on what it runs, and its data.
[[nodiscard]] RunOrigin OriginOf(const Job& job);

// Writes params.yaml, with the origin as comments, and labels.txt. Throws
// IoError.
void WriteDescription(const Job& job);

}  // namespace infeed

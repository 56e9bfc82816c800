#pragma once

#include "trainer/job/run_options.h"
#include "trainer/params/params.h"
#include "trainer/ranks/ranks.h"

namespace infeed {

// Sets model_variant to that of the weights which resnet_checkpoint gives,
// where they have one: `tpu` of a TensorFlow checkpoint, its own of a
// checkpoint of this program. A line is printed then. A training that resumes
// keeps the variant with which it began.
//
// Throws UsageError where another variant is given, unless --force is, and for
// a TensorFlow checkpoint of another depth. Rank 0 reads for all ranks.
void FollowWeights(const RunOptions& options, Ranks& ranks,
                   RunParams& resolved);

}  // namespace infeed

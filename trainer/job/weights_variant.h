#pragma once

#include <optional>
#include <string>

#include "trainer/job/run_options.h"
#include "trainer/model/options.h"
#include "trainer/params/params.h"
#include "trainer/ranks/ranks.h"

namespace infeed {

// The variant of weights at a local path: `tpu` of a TensorFlow checkpoint; its
// own of a checkpoint of this program, of a file in it, and of a file beside an
// export's preprocessing.json; `torchvision` of any other file of torch.save().
// nullopt: the weights do not say. Throws IoError, DataError.
[[nodiscard]] std::optional<ModelVariant> VariantOfWeights(
    const std::string& path);

// Sets model_variant to that of the weights which resnet_checkpoint gives,
// where they have one (VariantOfWeights()). A line is printed then. A training
// that resumes keeps the variant with which it began.
//
// Throws UsageError where another variant is given, unless --force is, and for
// a TensorFlow checkpoint of another depth. Rank 0 reads for all ranks.
void FollowWeights(const RunOptions& options, Ranks& ranks,
                   RunParams& resolved);

}  // namespace infeed

#pragma once

#include <optional>
#include <string>

#include "trainer/model/options.h"
#include "trainer/params/params.h"
#include "trainer/params/run_options.h"
#include "trainer/ranks/ranks.h"

namespace infeed {

// The model variant of weights at a local path: `tpu` for a TensorFlow
// checkpoint; the stored one for a checkpoint of this program, a file in it,
// and a file beside an export's preprocessing.json; `torchvision` for any other
// file of torch.save(). nullopt: not known. Throws IoError, DataError.
[[nodiscard]] std::optional<ModelVariant> VariantOfWeights(
    const std::string& path);

// Sets model_variant to VariantOfWeights() of resnet_checkpoint, if that is
// known, and prints a line. A training that resumes keeps the variant with
// which it began.
//
// Throws UsageError where another variant is given, unless --force is, and for
// a TensorFlow checkpoint of another depth. Rank 0 reads for all ranks.
void FollowWeights(const RunOptions& options, Ranks& ranks,
                   RunParams& resolved);

}  // namespace infeed

#pragma once

#include <memory>
#include <string>

#include "records/cloud/cloud_runtime.h"

namespace infeed {

// Downloads the weights that a URL stands for, as weights_file.h has them for a
// path, into a folder, and returns the path there: of a model_dir its newest
// whole checkpoint; a checkpoint's folder; a TensorFlow checkpoint by its
// prefix, one of its files, or a folder whose `checkpoint` file names it; any
// other file. Throws IoError where there is none.
[[nodiscard]] std::string PullWeights(
    const std::string& url, const std::string& folder,
    const std::shared_ptr<const CloudRuntime>& runtime);

}  // namespace infeed

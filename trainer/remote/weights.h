#pragma once

#include <memory>
#include <string>

#include "records/cloud/cloud_runtime.h"

namespace infeed {

// Downloads the weights at a URL into a folder and returns their path there.
// The URL may be, as in weights_file.h, a model directory, whose newest
// undamaged checkpoint is downloaded; a checkpoint's folder; a TensorFlow
// checkpoint's prefix, one of its files, or a folder whose `checkpoint` file
// names it; or any other file. Throws IoError where there is none.
[[nodiscard]] std::string PullWeights(
    const std::string& url, const std::string& folder,
    const std::shared_ptr<const CloudRuntime>& runtime);

}  // namespace infeed

#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "trainer/model/options.h"

// Weights that are given by a name, such as "resnet18", instead of a path. The
// name is looked up in
//
//   1. $INFEED_WEIGHTS, a folder or a URL
//   2. the cache of torch.hub: $TORCH_HOME/hub/checkpoints, else
//      torch/hub/checkpoints in the user's cache folder
//
// where its files are NAME and NAME-ANYTHING, as resnet18-f37072fd.pth, with
// the extensions .safetensors, .pth and .pt.
namespace infeed {

// Returns the names of files directly in a folder at a URL that could be those
// of weights of this name.
using ListStoredWeights = std::function<std::vector<std::string>(
    const std::string& url, const std::string& name)>;

// Whether a value of resnet_checkpoint is a name: not a URL, and no path that
// exists or has a folder or a file's extension.
[[nodiscard]] bool IsWeightsName(const std::string& given);

// Whether weights are given by a name that is looked up at a URL.
[[nodiscard]] bool IsLookedUpAtUrl(const std::string& given);

// Whether a file belongs to weights of this name.
[[nodiscard]] bool IsFileOfWeights(const std::string& file,
                                   const std::string& name);

// The path or URL of a file in a folder, which may be a URL with a query.
[[nodiscard]] std::string FileInFolder(const std::string& folder,
                                       const std::string& file);

// The names without a part after NAME, for a place that cannot be listed.
[[nodiscard]] std::vector<std::string> PlainNamesOf(const std::string& name);

// Returns the path or URL of the weights: `given` unless it is a name, whose
// first place with a file counts. Throws UsageError, for a name, if no place
// has a file of it or one place has several; it names the parameter. Requires:
// `list` if IsLookedUpAtUrl().
[[nodiscard]] std::string FindWeights(const std::string& given,
                                      std::string_view parameter,
                                      const ListStoredWeights& list = {});

// Throws UsageError if the weights are given by the name of a ResNet of another
// depth than the model's.
void RequireDepthOfName(const std::string& given, const ModelOptions& model);

}  // namespace infeed

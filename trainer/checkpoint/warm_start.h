#pragma once

#include <string>
#include <vector>

#include "trainer/formats/host_tensor.h"
#include "trainer/model/options.h"

namespace infeed {

// The result of initializing a model with existing weights.
struct WarmStarted {
  std::string text;  // the weights taken and those left, for a line
  // "the classifier fc is [1000, 512] in the file and [10, 512] in the model":
  // why the classifier keeps its new weights; empty: its weights were taken.
  std::string head_left;
};

// Replaces a new model's weights by those at a path, written by this program or
// by others:
//
//   a model directory of ours              its newest undamaged checkpoint
//   a checkpoint folder of ours
//   a folder with TensorFlow's `checkpoint` file, or a checkpoint's prefix
//   a safetensors file
//   a file of torch.save()
//
// The last linear layer keeps its new weights unless all its tensors fit:
// fine-tuning usually changes the number of classes. The first convolution's
// input channels are summed for a model of one, repeated for one of more.
// num_batches_tracked stays, too, where a file lacks it. Every other tensor
// must be present and fit.
//
// class_names: the names of the model's classes; {}: not known, or not to be
// compared. If the weights have names too (ModelLabels::OfWeights()), rows of
// the last layer are taken by name; if the names differ, the layer keeps its
// new weights.
//
// Throws UsageError for a folder without weights, IoError for a file that
// cannot be read, and DataError for a damaged file and for tensors that are
// missing or have another shape, naming them. Nothing is replaced then.
[[nodiscard]] WarmStarted WarmStart(
    const std::string& path, const ModelOptions& model, TensorMap& weights,
    const std::vector<std::string>& class_names = {});

// Whether there is a file of torch.save() at a path. Throws IoError.
[[nodiscard]] bool IsTorchFile(const std::string& path);

// Reorders the rows of a classifier (the tensors whose names begin with `head`)
// by the names of the model's classes; removes the classifier if the names
// differ. file: the names of the file's classes. Returns a text about the
// change, or "" if nothing changed or one side has no names.
std::string ArrangeClasses(const std::vector<std::string>& file,
                           const std::vector<std::string>& model,
                           const std::string& head, TensorMap& tensors);

}  // namespace infeed

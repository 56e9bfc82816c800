#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "trainer/formats/host_tensor.h"
#include "trainer/model/layers.h"

namespace infeed {

// A TensorFlow V2 checkpoint: PREFIX.index, a sorted table of its tensors, and
// PREFIX.data-NNNNN-of-NNNNN with the tensors' bytes.
//
// Holds the index; Read() reads a tensor and verifies its CRC-32C. Const
// members may be called from several threads at once. Throws DataError, naming
// file and place, for anything damaged, and IoError for a file that cannot be
// read.
class TensorBundle {
 public:
  explicit TensorBundle(std::string prefix);

  // The names of all tensors, in order.
  [[nodiscard]] std::vector<std::string> names() const;
  [[nodiscard]] bool Has(const std::string& name) const {
    return entries_.contains(name);
  }

  // A tensor of floats or of 32 or 64-bit integers. Throws DataError for other
  // types, for a tensor that is cut into slices, and for an unknown name.
  [[nodiscard]] HostTensor Read(const std::string& name) const;

 private:
  struct Entry {
    int type = 0;  // a value of tensorflow.DataType
    std::vector<std::int64_t> shape;
    int shard = 0;
    std::int64_t offset = 0;
    std::int64_t size = 0;
    std::uint32_t masked_crc = 0;
    bool whole = true;
  };

  [[nodiscard]] std::string DataPath(int shard) const;

  std::string prefix_;
  int shards_ = 1;
  std::map<std::string, Entry> entries_;
};

// The prefix of the checkpoint at a path. The path may be a prefix, one of the
// checkpoint's files, or a folder whose `checkpoint` file names the newest one.
// nullopt when it is none of these. Throws DataError for a `checkpoint` file
// that names no checkpoint.
[[nodiscard]] std::optional<std::string> FindTensorBundle(
    const std::string& path);

// A TensorFlow checkpoint's tensors under our names and in our layout. The k-th
// convolution of `layers` is "conv2d_<k>" in the checkpoint, the k-th norm
// "batch_normalization_<k>", the k-th linear layer "dense_<k>", the first ones
// without a number: PlanLayers() lists them in that order. Convolution kernels
// [kh, kw, in, out] become [out, in, kh, kw], dense ones [in, out] become [out,
// in]. Tensors missing from the checkpoint are left out; variables of no layer
// (global_step, the optimizer's slots, moving averages) are not read.
//
// The reference's ImageNet models of 1,001 classes have "background" as their
// class 0. For a model of 1,000 classes its row is removed; the other rows then
// match our labels. Throws what TensorBundle::Read() throws.
[[nodiscard]] TensorMap ReadTensorflowWeights(
    const TensorBundle& bundle, const std::vector<LayerPlan>& layers);

}  // namespace infeed

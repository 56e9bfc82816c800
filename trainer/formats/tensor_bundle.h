#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "trainer/formats/host_tensor.h"

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

}  // namespace infeed

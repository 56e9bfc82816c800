#pragma once

#include <cstdint>
#include <string>

namespace infeed {

// Synthetic photograph `number`: a JPEG of 500 x 375 pixels, similar to
// ImageNet's in kind and size (quality 96, about 110 KB), with the same bytes
// on every machine.
[[nodiscard]] std::string MadePhotograph(std::int64_t number);

// A data set of synthetic photographs in a temporary folder, which the
// destructor removes: eight shards train-NNNNN-of-00008, labels 1 to 1,000,
// without seek indexes. For benchmarks without a data set; results for real
// photographs need real ones. Throws IoError.
class MadeShards {
 public:
  // Requires: images > 0.
  explicit MadeShards(std::int64_t images);
  ~MadeShards();
  MadeShards(const MadeShards&) = delete;
  MadeShards& operator=(const MadeShards&) = delete;

  [[nodiscard]] const std::string& folder() const { return folder_; }

 private:
  std::string folder_;
};

}  // namespace infeed

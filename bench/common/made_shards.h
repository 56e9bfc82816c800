#pragma once

#include <cstdint>
#include <string>

namespace infeed {

// A made photograph number `number`: a JPEG of 500 x 375 in the kind and size
// of ImageNet's (quality 96, about 110 KB), the same bytes everywhere.
[[nodiscard]] std::string MadePhotograph(std::int64_t number);

// A data set of made photographs in a temporary folder of its own, which goes
// with the object: eight shards train-NNNNN-of-00008, labels 1 to 1,000,
// without seek indexes. For whoever has no data set at hand; figures about
// real photographs need real ones. Throws IoError.
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

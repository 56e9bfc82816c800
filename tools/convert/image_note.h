#pragma once

#include <string>

namespace infeed {

// A note of a conversion about an image.
struct ImageNote {
  std::string path;
  std::string reason;

  friend bool operator==(const ImageNote&, const ImageNote&) = default;
};

}  // namespace infeed

#pragma once

#include <concepts>
#include <string>
#include <string_view>

namespace infeed {

// "1 image", "2 images", "0 images"; for a plural that is not the word and an
// "s": CountText(2, "class", "classes").
[[nodiscard]] std::string CountText(std::integral auto count,
                                    std::string_view one,
                                    std::string_view many = "") {
  std::string text = std::to_string(count) + " ";
  if (count == 1) {
    return text.append(one);
  }
  return many.empty() ? text.append(one).append("s") : text.append(many);
}

}  // namespace infeed

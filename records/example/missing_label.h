#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace infeed {

// Returns why a record's label is kNoLabel, for its DataError: what is under
// the key instead of one whole number, or which keys the record has. Throws
// DataError when the bytes are not an Example.
[[nodiscard]] std::string WhyNoLabel(std::span<const std::byte> payload,
                                     std::string_view label_key);

}  // namespace infeed

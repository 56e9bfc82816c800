#pragma once

#include <span>
#include <string_view>

namespace infeed {

// The known name with the fewest edits from an unknown one, or the first of
// which that is a part; "" when none is close.
[[nodiscard]] std::string_view NearestName(
    std::string_view name, std::span<const std::string_view> known);

}  // namespace infeed

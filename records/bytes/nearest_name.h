#pragma once

#include <span>
#include <string_view>

namespace infeed {

// The known name that an unknown one probably stands for: the parameter that
// other programs call by it ("lr"), else the known name with the smallest edit
// distance, or the first that contains the unknown one; "" when none is close.
[[nodiscard]] std::string_view NearestName(
    std::string_view name, std::span<const std::string_view> known);

}  // namespace infeed

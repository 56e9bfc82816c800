#pragma once

#include <span>
#include <string_view>

namespace infeed {

// The known name that was probably meant by an unknown one: what other programs
// call by it ("lr"), else that with the fewest edits from it, or the first of
// which it is a part; "" when none is close.
[[nodiscard]] std::string_view NearestName(
    std::string_view name, std::span<const std::string_view> known);

}  // namespace infeed

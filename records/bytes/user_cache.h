#pragma once

#include <string>

namespace infeed {

// $XDG_CACHE_HOME, else ~/.cache; "" where there is neither.
[[nodiscard]] std::string UserCacheFolder();

}  // namespace infeed

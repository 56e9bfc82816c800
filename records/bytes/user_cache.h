#pragma once

#include <string>

namespace infeed {

// $XDG_CACHE_HOME, else ~/.cache; "" if neither is set.
[[nodiscard]] std::string UserCacheFolder();

}  // namespace infeed

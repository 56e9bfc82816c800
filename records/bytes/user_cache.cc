#include "records/bytes/user_cache.h"

#include <cstdlib>

namespace infeed {

std::string UserCacheFolder() {
  const char* cache = std::getenv("XDG_CACHE_HOME");
  if (cache != nullptr && *cache == '/') {  // XDG: ignore relative paths.
    return cache;
  }
  const char* home = std::getenv("HOME");
  return home != nullptr && *home != '\0' ? std::string(home) + "/.cache" : "";
}

}  // namespace infeed

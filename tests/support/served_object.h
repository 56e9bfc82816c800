#pragma once

#include <string>
#include <vector>

#include "tests/support/loopback_server.h"

namespace infeed {

// A handler that serves one object, whatever its name: HEAD and ranges of it.
[[nodiscard]] LoopbackServer::Handler ServeObject(std::string bytes,
                                                  std::string etag = "\"e\"");

// The first and last byte that each GET asked for: "0-7", sorted.
[[nodiscard]] std::vector<std::string> RangesAsked(
    const LoopbackServer& server);

}  // namespace infeed

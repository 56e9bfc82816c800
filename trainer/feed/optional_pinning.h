#pragma once

#include <functional>
#include <string>

#include "pipeline/memory/batch.h"

namespace infeed {

// Memory that works where the system rejects pinning, as with a low limit on
// locked memory: those batches stay unpinned, and a device copies from them
// more slowly. say gets the reason, once for all pools with this memory; it may
// be empty. Nothing changes if `memory` has no hooks.
[[nodiscard]] BatchMemory PinIfPossible(
    const BatchMemory& memory, std::function<void(const std::string&)> say);

}  // namespace infeed

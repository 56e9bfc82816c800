#pragma once

#include <span>
#include <string>

#include "base/error.h"

namespace infeed {

// Writes a file whole under its name or not at all, as AtomicFile does, but
// does not wait for the disk: for many small files that can be made again
// after a power failure. Leaves nothing else behind. Throws IoError.
void WriteFileQuickly(const std::string& path,
                      std::span<const std::byte> bytes);

}  // namespace infeed

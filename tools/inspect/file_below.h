#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "base/error.h"

namespace infeed {

// Writes the file FOLDER/PATH whole or not at all, as AtomicFile does, but
// without waiting for the disk: for many small files that can be made again
// after a power failure. Creates missing folders below FOLDER.
//
// PATH comes from data: nothing outside FOLDER is ever written. Throws
// DataError for a PATH with an empty part, "." or "..", and IoError, also when
// a folder below FOLDER is a symbolic link.
void WriteFileBelow(const std::string& folder, std::string_view path,
                    std::span<const std::byte> bytes);

}  // namespace infeed

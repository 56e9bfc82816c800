#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "records/cloud/object_store.h"

namespace infeed {

// The bytes of an object that is small; nullopt where there is none. Starts no
// threads, unlike a source. Throws as ObjectStore does, and IoError for an
// object of more than max_bytes.
[[nodiscard]] std::optional<std::string> ReadSmallObject(
    const ObjectStore& store, const std::string& url, std::int64_t max_bytes);

}  // namespace infeed

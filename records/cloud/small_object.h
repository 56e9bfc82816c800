#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "records/cloud/object_store.h"

namespace infeed {

// Returns the bytes of a small object; nullopt if it does not exist. Starts no
// threads, unlike ObjectSource. Throws as ObjectStore does, and IoError for an
// object of more than max_bytes.
[[nodiscard]] std::optional<std::string> ReadSmallObject(
    const ObjectStore& store, const std::string& url, std::int64_t max_bytes);

}  // namespace infeed

#pragma once

#include <memory>
#include <string>

#include "records/bytes/byte_sink.h"

namespace infeed {

// Begins a file, or an object in the store that a URL (s3://, gs://) names.
// Throws IoError, and UsageError for a URL that cannot be written.
[[nodiscard]] std::unique_ptr<ByteSink> OpenSink(const std::string& path);

}  // namespace infeed

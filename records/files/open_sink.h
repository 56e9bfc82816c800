#pragma once

#include <memory>
#include <string>

#include "records/bytes/byte_sink.h"

namespace infeed {

// Opens a new file, or a new object for a URL (s3://, gs://), for writing.
// own_names: as AtomicFile takes it. Throws IoError, and UsageError for a URL
// that cannot be written.
[[nodiscard]] std::unique_ptr<ByteSink> OpenSink(const std::string& path,
                                                 int own_names = 1);

}  // namespace infeed

#pragma once

#include <string>

#include "records/bytes/byte_source.h"

namespace infeed {

// Describes a file without records by its first bytes, for an error message:
// "a JPEG image, not a file of records: " and what to do instead. "" if the
// format is not recognized. Throws IoError.
[[nodiscard]] std::string DescribeOtherFile(const ByteSource& file);

}  // namespace infeed

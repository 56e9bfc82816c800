#pragma once

#include <string>

#include "records/store/record_index.h"

namespace infeed {

// A sentence for the user on image files of this machine whose EXIF data asks
// for a turn, which decoding does not do: how many of those looked at, up to
// 32 spread over the index, with one of them; "" if there are none, and
// for other records. Files that cannot be read do not count.
[[nodiscard]] std::string OrientationNote(const RecordIndex& index);

}  // namespace infeed

#pragma once

#include "pipeline/options/options.h"
#include "trainer/feed/resident_images.h"
#include "trainer/run/job.h"

namespace infeed {

// Copies the training images to the device if data_on_device is set. Returns
// null otherwise, and if this run cannot hold them there; the reason is then
// printed. Throws UsageError for options with
// random transformations other than mirroring, for records without packed
// pixels, and for images that do not fit on the device; DataError for a record
// that cannot be read.
[[nodiscard]] HeldRecords HoldImages(const Job& job, const InputOptions& input);

}  // namespace infeed

#pragma once

#include "pipeline/options/options.h"
#include "trainer/feed/run_input.h"
#include "trainer/run/job.h"

namespace infeed {

// Copies the training images to the device if data_on_device is set. Returns
// where the training run's images are: kRecords also if this run cannot hold
// them on the device; the reason is printed. Throws UsageError for options with
// random transformations other than mirroring, for records without packed
// pixels, and for images that do not fit on the device; DataError for a record
// that cannot be read.
[[nodiscard]] ImagePlace PlaceImages(const Job& job, const InputOptions& input);

}  // namespace infeed

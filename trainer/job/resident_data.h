#pragma once

#include "pipeline/order/options.h"
#include "trainer/feed/run_input.h"
#include "trainer/job/job.h"

namespace infeed {

// Puts the training images on the device where data_on_device asks for it.
// Returns where the training has them: in records also where this run cannot
// have them on the device, which is said. Throws UsageError for options that
// draw more than a mirror, records without packed pixels, and images that the
// device has no room for; DataError for a record that cannot be read.
[[nodiscard]] ImagePlace PlaceImages(const Job& job, const InputOptions& input);

}  // namespace infeed

#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "pipeline/order/options.h"
#include "records/store/record_index.h"
#include "trainer/log/pictures.h"

namespace infeed {

// Returns records as the model sees them, by record: they are read once more,
// by the options of the prediction. One that is bad by now is left out. Throws
// as InputPipeline does. Requires: each record is in the index, once.
[[nodiscard]] std::map<std::int64_t, WebPicture> PicturesOf(
    const RecordIndex& index, std::vector<std::int64_t> records,
    InputOptions input);

}  // namespace infeed

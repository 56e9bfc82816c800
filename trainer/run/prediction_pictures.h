#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "pipeline/order/options.h"
#include "records/store/record_index.h"
#include "trainer/log/pictures.h"

namespace infeed {

// Returns pictures of records, by record, as the model gets them: reads them
// once more, with the options of the prediction. A record that has become bad
// is left out. Throws as InputPipeline does. Requires: each record is in the
// index, and listed once.
[[nodiscard]] std::map<std::int64_t, WebPicture> PicturesOf(
    const RecordIndex& index, std::vector<std::int64_t> records,
    InputOptions input);

}  // namespace infeed

#pragma once

#include <memory>

#include "pipeline/engine/batch_stream.h"
#include "pipeline/order/options.h"
#include "records/store/record_index.h"

namespace infeed {

// Where the images of a run are: in records, or on the device.
enum class ImagePlace { kRecords, kDevice };

// Opens the stream of a training run or an evaluation: the input engine on the
// records of a split, only its order where the device has the images, or fake
// data (index: null). The index must outlive it. Throws what the constructor of
// each throws.
[[nodiscard]] std::unique_ptr<BatchStream> OpenInput(
    const RecordIndex* index, const InputOptions& options,
    const StreamPosition& start = {}, ImagePlace place = ImagePlace::kRecords);

}  // namespace infeed

#pragma once

#include <memory>

#include "pipeline/engine/batch_stream.h"
#include "pipeline/options/options.h"
#include "records/store/record_index.h"
#include "trainer/feed/resident_images.h"

namespace infeed {

// Opens the stream of a training run or an evaluation: InputPipeline on the
// records of a split; ResidentOrder if the device has the images (held);
// FakeData if index is null. The index must outlive the stream. Throws as their
// constructors.
[[nodiscard]] std::unique_ptr<BatchStream> OpenInput(
    const RecordIndex* index, const InputOptions& options,
    const StreamPosition& start = {}, HeldRecords held = nullptr);

}  // namespace infeed

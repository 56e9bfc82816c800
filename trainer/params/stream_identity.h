#pragma once

#include "records/store/record_index.h"
#include "trainer/checkpoint/checkpoint.h"
#include "trainer/params/train_params.h"

namespace infeed {

// The part of a run's identity that determines its batches: the training data
// and the parameters of its stream. index: of the training records. ranks: that
// train together. Throws as CheckedInputOptions() does.
[[nodiscard]] RunIdentity MakeStreamIdentity(const TrainParams& params,
                                             const RecordIndex& index,
                                             int ranks);

}  // namespace infeed

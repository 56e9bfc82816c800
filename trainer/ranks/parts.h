#pragma once

#include "pipeline/order/options.h"
#include "trainer/params/train_params.h"
#include "trainer/ranks/place.h"

// What a rank's part of a run is.
namespace infeed {

// Its part of the machine's threads; 0: all of them.
[[nodiscard]] int ThreadsOf(const RankPlace& place);

// Its part of an input: of each batch, and of the threads where none are given.
// An evaluation's batch becomes one that the ranks can share; its slots behind
// the last image do not count.
[[nodiscard]] InputOptions PartOf(InputOptions input, const RankPlace& place);

// Throws UsageError, which says what to give, unless the ranks can share a
// training batch.
void RequireShares(const TrainParams& params, const RankPlace& place);

}  // namespace infeed

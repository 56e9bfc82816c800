#pragma once

#include "pipeline/options/options.h"
#include "trainer/ranks/place.h"

// A rank's part of a run.
namespace infeed {

// The rank's share of the machine's threads; 0: all of them.
[[nodiscard]] int ThreadsOf(const RankPlace& place);

// The options of a rank's part of an input: its part of each batch, and of the
// threads if their number is not given. An evaluation's batch is rounded up so
// that the ranks can share it; slots after the last image do not count.
[[nodiscard]] InputOptions PartOf(InputOptions input, const RankPlace& place);

}  // namespace infeed

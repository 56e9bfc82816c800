#pragma once

#include "trainer/params/params.h"

namespace CLI {
class App;
}

namespace infeed {

// Accepts flags of the reference driver (tensorflow/tpu's ResNet) that have no
// meaning here, so that its command lines run unchanged. --help does not show
// them.
//
// Flags about TPUs and serving are accepted with a line on stderr on why they
// have no effect; flags about Bigtable are rejected (UsageError); the
// reference's parameters without a meaning here go to `layers`, as flags.
void AddReferenceFlags(CLI::App& app, ParamLayers& layers);

}  // namespace infeed

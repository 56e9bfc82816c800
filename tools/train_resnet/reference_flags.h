#pragma once

#include "trainer/params/params.h"

namespace CLI {
class App;
}

namespace infeed {

// Flags of the reference driver that mean nothing here, so that its command
// lines run unchanged. --help does not show them.
//
// Those about TPUs and serving are accepted with a line on stderr that says
// why they have no effect; those about Bigtable are refused (UsageError); those
// of its parameters that have no meaning here go to `layers`, as flags.
void AddReferenceFlags(CLI::App& app, ParamLayers& layers);

}  // namespace infeed

#pragma once

#include <optional>

#include "tools/cli/cloud_flags.h"
#include "tools/input/observation.h"
#include "tools/train_resnet/checkpoint_flags.h"
#include "tools/train_resnet/storage_flags.h"
#include "trainer/job/run_options.h"
#include "trainer/params/params.h"
#include "trainer/ranks/place.h"

namespace infeed {

// The command line of train_resnet.
struct TrainFlags {
  RunOptions run;  // except parameters, place and observers
  ParamLayers layers;
  CheckpointFlags checkpoint;
  bool print_config = false;
  RankFlags rank;
  int local_ranks = 1;  // ranks to be started by this process
  CloudFlags cloud;
  StorageFlags storage;
  ObservationFlags observation;
};

// Parses the command line. nullopt: --help or the like was given and printed.
// Throws UsageError; for an unknown flag it names the nearest known one.
[[nodiscard]] std::optional<TrainFlags> ReadTrainFlags(int argc, char** argv);

}  // namespace infeed

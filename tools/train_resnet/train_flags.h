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
  RunOptions run;  // all but its parameters, place and who watches
  ParamLayers layers;
  CheckpointFlags checkpoint;
  bool print_config = false;
  RankFlags rank;
  int local_ranks = 1;  // to be started by this process
  CloudFlags cloud;
  StorageFlags storage;
  ObservationFlags observation;
};

// Reads it. nullopt when --help or the like was asked for and answered. Throws
// UsageError; for an unknown flag with the nearest known one.
[[nodiscard]] std::optional<TrainFlags> ReadTrainFlags(int argc, char** argv);

}  // namespace infeed

#pragma once

#include <optional>

#include "tools/checkpoint_flags.h"
#include "tools/cloud_flags.h"
#include "tools/observation.h"
#include "tools/storage_flags.h"
#include "trainer/params.h"
#include "trainer/rank_place.h"
#include "trainer/run_options.h"

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

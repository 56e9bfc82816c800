#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "pipeline/remote/rpc.h"
#include "tools/cli/cloud_flags.h"
#include "tools/input/observation.h"
#include "tools/train_resnet/compare_mode.h"
#include "trainer/params/params.h"
#include "trainer/params/run_options.h"
#include "trainer/ranks/place.h"

namespace infeed {

// Flags of a run with folders in an object store.
struct StorageFlags {
  std::string local_scratch_dir;  // "": in the user's cache folder
  std::chrono::seconds upload_timeout{300};
};

struct TrainFlags {
  RunOptions run;  // except parameters, place and observers
  ParamLayers layers;
  std::string checkpoint;  // best, newest or a step; "": not given
  bool print_config = false;
  bool json = false;  // in modes compare and doctor
  RankFlags rank;
  CompareFlags compare;
  int local_ranks = 1;  // ranks to be started by this process
  CloudFlags cloud;
  TlsFiles worker_tls;
  StorageFlags storage;
  ObservationFlags observation;
};

// Parses the command line. nullopt: --help or the like was given and printed.
// Throws UsageError.
[[nodiscard]] std::optional<TrainFlags> ReadTrainFlags(int argc, char** argv);

}  // namespace infeed

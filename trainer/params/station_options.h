#pragma once

#include <string>

#include "trainer/checkpoint/checkpoint.h"
#include "trainer/checkpoint/save.h"
#include "trainer/feed/data_set.h"
#include "trainer/loop/device_loop.h"
#include "trainer/params/params.h"
#include "trainer/params/run_options.h"

// Converts users' parameters to the options of each part of a run.
namespace infeed {

// Sets the parameters that depend on the data and the device, and checks the
// parameters against the data. ranks: that train together. Throws UsageError.
[[nodiscard]] RunParams Resolve(const RunParams& params,
                                const std::string& device, const DataSet& data,
                                int ranks = 1);

[[nodiscard]] ModelOptions MakeModelOptions(const TrainParams& params);
[[nodiscard]] OptimizerOptions MakeOptimizerOptions(const TrainParams& params);
[[nodiscard]] DeviceOptions MakeDeviceOptions(const TrainParams& params,
                                              const std::string& device);
// On a CPU, float16 is float32: it has no units for float16's convolutions.
[[nodiscard]] Precision PrecisionOf(const TrainParams& params,
                                    const std::string& device);
// Throws UsageError for parameters with which the device cannot train.
void CheckDevice(const TrainParams& params, const std::string& device);
// Which checkpoints a run keeps. Later ones than that of its --resume go only
// with --force.
[[nodiscard]] KeepOptions MakeKeepOptions(const TrainParams& params,
                                          const RunOptions& run);
[[nodiscard]] InputOptions EvalInputOf(const TrainParams& params);
[[nodiscard]] EvalViews EvalViewsOf(const TrainParams& params);
// The part of MakeIdentity() that every use of a checkpoint's weights shares.
[[nodiscard]] RunIdentity MakeNetworkIdentity(const TrainParams& params);
// Requires: the parameters are Resolve()d for these ranks.
[[nodiscard]] RunIdentity MakeIdentity(const TrainParams& params,
                                       const DataSet& data, int ranks = 1);

}  // namespace infeed

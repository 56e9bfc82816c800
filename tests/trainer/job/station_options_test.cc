#include "trainer/job/station_options.h"

#include "trainer/params/train_params.h"

#include "gtest/gtest.h"

namespace infeed {
namespace {

TEST(StationOptionsTest, TheDeviceGetsTheGpusSwitches) {
  TrainParams params;
  const DeviceOptions device = MakeDeviceOptions(params, "cpu");
  EXPECT_EQ(device.graphs, GraphReplay::kTrue);
  EXPECT_FALSE(device.deterministic);
  EXPECT_FALSE(device.tf32);
  params.cuda_graph = GraphReplay::kRequired;
  params.deterministic = true;
  EXPECT_EQ(MakeDeviceOptions(params, "cpu").graphs, GraphReplay::kRequired);
  EXPECT_TRUE(MakeDeviceOptions(params, "cpu").deterministic);
  EXPECT_FALSE(MakeDeviceOptions(params, "cpu").tf32);
  params.tf32 = true;
  EXPECT_TRUE(MakeDeviceOptions(params, "cpu").tf32);
}

TEST(StationOptionsTest, AnEvaluationReadsItsFilesAsTheTrainingDoes) {
  TrainParams params;
  EXPECT_TRUE(MakeEvalInput(params).map_files);
  params.input.map_files = false;
  EXPECT_FALSE(MakeEvalInput(params).map_files);
}

}  // namespace
}  // namespace infeed

#include "trainer/loop/ceilings.h"

#include <gtest/gtest.h>

#include "base/error.h"

namespace infeed {
namespace {

TEST(MeasureCeilingsTest, KnowsWhatAnyCpuReaches) {
  const DeviceCeilings ceilings = MeasureCeilings("cpu", Precision::kFloat32);
  EXPECT_GT(ceilings.tflops, 1e-4);
  EXPECT_LT(ceilings.tflops, 1e3);
  EXPECT_GT(ceilings.gb_per_second, 0.1);
  EXPECT_LT(ceilings.gb_per_second, 1e5);
}

TEST(MeasureCeilingsTest, RefusesADeviceThatIsNotThere) {
  EXPECT_THROW((void)MeasureCeilings("cuda:99", Precision::kBfloat16),
               UsageError);
}

}  // namespace
}  // namespace infeed

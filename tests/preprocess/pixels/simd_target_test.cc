#include "preprocess/pixels/simd_target.h"

#include <string>

#include "base/error.h"
#include "tests/support/matchers.h"
#include "tests/support/throws.h"

namespace infeed {
namespace {

TEST(SimdTargetTest, PortableTargetIsAlwaysSupported) {
  EXPECT_THAT(CompiledSimdTargets(), Contains("PORTABLE"));
  EXPECT_THAT(SupportedSimdTargets(), Contains("PORTABLE"));
}

TEST(SimdTargetTest, SupportedTargetsAreCompiled) {
  for (const std::string& target : SupportedSimdTargets()) {
    EXPECT_THAT(CompiledSimdTargets(), Contains(target));
  }
}

TEST(SimdTargetTest, ChoosesAndGoesBackToTheBest) {
  const std::string best = SupportedSimdTargets().front();
  EXPECT_EQ(CurrentSimdTarget(), best);
  for (const std::string& target : SupportedSimdTargets()) {
    UseSimdTarget(target);
    EXPECT_EQ(CurrentSimdTarget(), target);
  }
  UseSimdTarget("");
  EXPECT_EQ(CurrentSimdTarget(), best);
}

TEST(SimdTargetTest, ErrorNamesTheSupportedTargets) {
  EXPECT_THAT(MessageOf<UsageError>([] { UseSimdTarget("AVX9"); }),
              HasSubstr("no SIMD target 'AVX9' on this CPU (there are: "));
}

}  // namespace
}  // namespace infeed

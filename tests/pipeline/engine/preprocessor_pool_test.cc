#include "pipeline/engine/preprocessor_pool.h"

#include <set>

#include "gtest/gtest.h"

namespace infeed {
namespace {

TEST(PreprocessorPoolTest, LendsOneToEachWorkerAndTakesItBack) {
  PreprocessorPool pool({.image_size = 8, .threads = 2});
  const auto lend_both = [&pool] {
    PreprocessorPool::Loan one(pool);
    PreprocessorPool::Loan two(pool);
    return std::set<Preprocessor*>{&*one, &*two};
  };
  const std::set<Preprocessor*> both = lend_both();
  EXPECT_EQ(both.size(), 2U);
  EXPECT_EQ(lend_both(), both);
}

TEST(PreprocessorPoolTest, TakesThePreprocessorsOptionsFromTheInputs) {
  const PreprocessOptions options =
      PreprocessOptionsOf({.image_size = 8,
                           .recipe = Recipe::kPlain,
                           .interpolation = Interpolation::kBilinear,
                           .augment = {.layers = 3},
                           .training = false,
                           .lenient = true,
                           .scaled_decode = true,
                           .jpeg_limits = {.max_scans = 5}});
  EXPECT_EQ(options.image_size, 8);
  EXPECT_EQ(options.recipe, Recipe::kPlain);
  EXPECT_EQ(options.interpolation, Interpolation::kBilinear);
  EXPECT_EQ(options.augment.layers, 3);
  EXPECT_FALSE(options.training);
  EXPECT_EQ(options.warnings, JpegWarnings::kTolerated);
  EXPECT_TRUE(options.scaled_decode);
  EXPECT_EQ(options.limits.max_scans, 5);
  EXPECT_EQ(PreprocessOptionsOf({}).warnings, JpegWarnings::kErrors);
}

}  // namespace
}  // namespace infeed

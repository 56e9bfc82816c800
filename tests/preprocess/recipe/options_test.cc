#include "preprocess/recipe/options.h"

#include <string>

#include "base/error.h"
#include "tests/support/throws.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace infeed {
namespace {

using ::testing::HasSubstr;

// timm: floor(image_size / crop_pct).
TEST(CropOptionsTest, AFractionIsTimmsResize) {
  EXPECT_EQ(EvalCover({.eval_crop = 0.95}, 224), 235);
  EXPECT_EQ(EvalCover({.eval_crop = 0.8}, 224), 280);
  EXPECT_EQ(EvalCover({.eval_crop = 1}, 288), 288);
  EXPECT_EQ(EvalCover({.eval_resize = 232}, 224), 232);
  EXPECT_EQ(EvalCover({}, 224), 256);
  EXPECT_EQ(EvalCover({}, {224, 320}), ImageSize(256, 366));
  EXPECT_EQ(EvalCover({.eval_crop = 0.8}, {224, 320}), ImageSize(280, 400));
  EXPECT_EQ(EvalCover({.eval_resize = 240}, {224, 320}), 240);
}

TEST(CropOptionsTest, TheReferencesCropIsAPartOfTheSide) {
  EXPECT_FLOAT_EQ(EvalCropFraction({}, 224), 0.875F);
  EXPECT_FLOAT_EQ(EvalCropFraction({.eval_resize = 232}, 224), 224 / 232.0F);
  EXPECT_FLOAT_EQ(EvalCropFraction({.eval_crop = 0.95}, 224), 0.95F);
  EXPECT_FLOAT_EQ(EvalCropFraction({}, {224, 320}), 0.875F);
  EXPECT_FLOAT_EQ(EvalCropFraction({.eval_resize = 232}, {320, 224}),
                  224 / 232.0F);
}

std::string Refusal(const CropOptions& crop, Recipe recipe,
                    const ImageSize& size = 224) {
  return MessageOf<UsageError>([&] { CheckCropOptions(crop, recipe, size); });
}

TEST(CropOptionsTest, RefusesWhatTheRecipeDoesNotHave) {
  EXPECT_EQ(Refusal({.scale = 0.5F, .ratio = 2, .eval_crop = 0.9},
                    Recipe::kTorchvision),
            "");
  EXPECT_EQ(Refusal({.eval_resize = 224}, Recipe::kTpu), "");
  EXPECT_THAT(Refusal({.scale = 0.5F}, Recipe::kTpu),
              HasSubstr("crop_scale: needs recipe=torchvision"));
  EXPECT_THAT(Refusal({.ratio = 2}, Recipe::kPlain),
              HasSubstr("crop_ratio: needs recipe=torchvision"));
  EXPECT_THAT(Refusal({.eval_resize = 256}, Recipe::kCifar),
              HasSubstr("eval_resize: needs recipe=torchvision or tpu"));
  EXPECT_THAT(Refusal({.eval_crops = 5}, Recipe::kPlain),
              HasSubstr("eval_crops: needs recipe=torchvision or tpu"));
  EXPECT_EQ(Refusal({.eval_crops = 5}, Recipe::kTpu), "");
}

// The margins of an image that is too small are black, but it has no corners.
TEST(CropOptionsTest, RefusesToResizeToLessThanTheShorterSide) {
  const ImageSize size(224, 320);
  constexpr Recipe kRecipe = Recipe::kTorchvision;
  EXPECT_EQ(Refusal({.eval_resize = 224}, kRecipe, size), "");
  EXPECT_THAT(Refusal({.eval_resize = 223}, kRecipe, size),
              HasSubstr("must be at least image_size's shorter side, 224"));
  const CropOptions five{.eval_resize = 319, .eval_crops = 5};
  EXPECT_THAT(Refusal(five, kRecipe, size),
              HasSubstr("must be at least image_size's longer side, 320"));
  EXPECT_EQ(Refusal(five, Recipe::kTpu, size), "");
}

TEST(CropOptionsTest, RefusesValuesOutOfRange) {
  const auto refusal = [](const CropOptions& crop) {
    return Refusal(crop, Recipe::kTorchvision);
  };
  EXPECT_THAT(refusal({.scale = 1.5F}), HasSubstr("crop_scale=1.5"));
  EXPECT_THAT(refusal({.ratio = 0.5F}), HasSubstr("crop_ratio=0.5"));
  EXPECT_THAT(refusal({.eval_crops = 4}),
              HasSubstr("eval_crops=4: must be 1, 5 or 10"));
  EXPECT_THAT(refusal({.eval_crop = 1.1}), HasSubstr("eval_crop=1.1"));
  EXPECT_THAT(refusal({.eval_resize = 223}),
              HasSubstr("eval_resize=223: must be at least image_size, 224"));
  EXPECT_THAT(refusal({.eval_resize = 256, .eval_crop = 0.9}),
              HasSubstr("give one of them"));
}

}  // namespace
}  // namespace infeed

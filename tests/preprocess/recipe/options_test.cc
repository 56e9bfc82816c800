#include "preprocess/recipe/options.h"

#include <array>
#include <limits>
#include <string>
#include <vector>

#include "base/error.h"
#include "preprocess/recipe/crop.h"
#include "tests/support/matchers.h"
#include "tests/support/throws.h"

namespace infeed {
namespace {

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
  EXPECT_THAT(Refusal({.max_scale = 0.5F}, Recipe::kTpu),
              HasSubstr("crop_scale_max: needs recipe=torchvision"));
  EXPECT_THAT(Refusal({.ratio = 2}, Recipe::kPlain),
              HasSubstr("crop_ratio: needs recipe=torchvision"));
  EXPECT_THAT(Refusal({.eval_resize = 256}, Recipe::kCifar),
              HasSubstr("eval_resize: needs recipe=torchvision or tpu"));
  EXPECT_THAT(Refusal({.eval_crops = 5}, Recipe::kPlain),
              HasSubstr("eval_crops: needs recipe=torchvision or tpu"));
  EXPECT_EQ(Refusal({.eval_crops = 5}, Recipe::kTpu), "");
  EXPECT_EQ(Refusal({.iou_crop = true}, Recipe::kPlain), "");
  EXPECT_EQ(Refusal({.iou_crop = true}, Recipe::kFit), "");
  EXPECT_THAT(Refusal({.iou_crop = true}, Recipe::kTorchvision),
              HasSubstr("iou_crop: needs recipe=plain or fit"));
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

// DINO's small crops end where its large ones begin.
TEST(CropOptionsTest, TheLargestCropIsAtLeastTheSmallest) {
  const auto refusal = [](float scale, float max_scale) {
    return Refusal({.scale = scale, .max_scale = max_scale},
                   Recipe::kTorchvision);
  };
  EXPECT_EQ(refusal(0.05F, 0.4F), "");
  EXPECT_EQ(refusal(0.4F, 1), "");
  EXPECT_EQ(refusal(0.4F, 0.4F), "");
  EXPECT_THAT(refusal(0.4F, 0.3F),
              HasSubstr("crop_scale_max=0.300000: must be from crop_scale, "
                        "0.400000, to 1"));
  EXPECT_THAT(refusal(0, 0.05F), HasSubstr("from crop_scale, 0.080000, to 1"));
  EXPECT_THAT(refusal(0, 1.5F), HasSubstr("crop_scale_max=1.5"));
  EXPECT_THAT(refusal(0, std::numeric_limits<float>::quiet_NaN()),
              HasSubstr("crop_scale_max=nan"));
}

// {y, x, mirrored} of each crop of an image of 20 x 11 with a square of 8,
// whose centre is (6, 1).
std::vector<std::array<int, 3>> Places(int crops) {
  std::vector<std::array<int, 3>> places;
  for (int i = 0; i < crops; ++i) {
    const EvalView view(crops, static_cast<std::uint64_t>(3 * crops + i));
    places.push_back(
        {view.PlaceY(20, 8, 6), view.PlaceX(11, 8, 1), view.is_mirrored()});
  }
  return places;
}

using Place = std::array<int, 3>;

TEST(EvalViewTest, OneCropIsTheCentre) {
  EXPECT_THAT(Places(1), ElementsAre(Place{6, 1, 0}));
}

TEST(EvalViewTest, FiveCropsAreTheCornersAndTheCentre) {
  EXPECT_THAT(Places(5),
              ElementsAre(Place{0, 0, 0}, Place{0, 3, 0}, Place{12, 0, 0},
                          Place{12, 3, 0}, Place{6, 1, 0}));
}

// The mirrored image's left is the image's right.
TEST(EvalViewTest, TenCropsIncludeTheMirroredImages) {
  const std::vector<Place> ten = Places(10);
  EXPECT_THAT(std::vector(ten.begin(), ten.begin() + 5),
              testing::ElementsAreArray(Places(5)));
  EXPECT_THAT(std::vector(ten.begin() + 5, ten.end()),
              ElementsAre(Place{0, 3, 1}, Place{0, 0, 1}, Place{12, 3, 1},
                          Place{12, 0, 1}, Place{6, 2, 1}));
}

}  // namespace
}  // namespace infeed

#include "preprocess/recipe/options.h"

#include <cmath>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/error.h"

namespace infeed {
namespace {

constexpr double kReferenceFraction = 0.875;

void RequireRecipe(std::string_view name, bool is_set, bool has,
                   std::string_view recipes) {
  if (is_set && !has) {
    throw UsageError(std::string(name) + ": needs recipe=" +
                     std::string(recipes) + "; leave it out");
  }
}

void RequireRange(std::string_view name, double value, double low,
                  double high) {
  if (value != 0 && !(value >= low && value <= high)) {
    throw UsageError(std::string(name) + "=" + std::to_string(value) +
                     ": must be from " + std::to_string(low) + " to " +
                     std::to_string(high));
  }
}

// A shorter side below image_size's longer one can leave the image too small,
// and its margins black; corners of such an image do not exist.
void CheckEvalResize(const CropOptions& crop, Recipe recipe,
                     const ImageSize& image_size) {
  if (crop.eval_resize == 0) {
    return;
  }
  const bool has_corners =
      crop.eval_crops != 1 && recipe == Recipe::kTorchvision;
  const int least = has_corners ? image_size.longer() : image_size.shorter();
  if (crop.eval_resize < least) {
    const std::string side = image_size.is_square() ? "image_size"
                             : has_corners          ? "image_size's longer side"
                                           : "image_size's shorter side";
    throw UsageError("eval_resize=" + std::to_string(crop.eval_resize) +
                     ": must be at least " + side + ", " +
                     std::to_string(least));
  }
}

}  // namespace

void CheckCropOptions(const CropOptions& crop, Recipe recipe,
                      const ImageSize& image_size) {
  const bool is_torchvision = recipe == Recipe::kTorchvision;
  const bool cuts = is_torchvision || recipe == Recipe::kTpu;
  RequireRecipe("crop_scale", crop.scale != 0, is_torchvision, "torchvision");
  RequireRecipe("crop_scale_max", crop.max_scale != 1, is_torchvision,
                "torchvision");
  RequireRecipe("crop_ratio", crop.ratio != 0, is_torchvision, "torchvision");
  RequireRecipe("eval_resize", crop.eval_resize != 0, cuts,
                "torchvision or tpu");
  RequireRecipe("eval_crop", crop.eval_crop != 0, cuts, "torchvision or tpu");
  RequireRecipe("iou_crop", crop.iou_crop,
                recipe == Recipe::kPlain || recipe == Recipe::kFit,
                "plain or fit");
  RequireRange("crop_scale", crop.scale, 1e-4, 1);
  if (!(crop.max_scale >= crop.min_scale() && crop.max_scale <= 1)) {
    throw UsageError("crop_scale_max=" + std::to_string(crop.max_scale) +
                     ": must be from crop_scale, " +
                     std::to_string(crop.min_scale()) + ", to 1");
  }
  RequireRange("crop_ratio", crop.ratio, 1, 100);
  RequireRange("eval_crop", crop.eval_crop, 0.01, 1);
  RequireRecipe("eval_crops", crop.eval_crops != 1, cuts, "torchvision or tpu");
  if (crop.eval_crops != 1 && crop.eval_crops != 5 && crop.eval_crops != 10) {
    throw UsageError("eval_crops=" + std::to_string(crop.eval_crops) +
                     ": must be 1, 5 or 10");
  }
  if (crop.eval_resize != 0 && crop.eval_crop != 0) {
    throw UsageError("eval_resize and eval_crop: give one of them");
  }
  CheckEvalResize(crop, recipe, image_size);
}

void CheckFitOptions(const FitOptions& fit, Recipe recipe) {
  const bool fits = recipe == Recipe::kFit;
  RequireRecipe("fit_fill", fit.fill != FitOptions::kFill, fits, "fit");
  RequireRecipe("fit_margin", fit.margin != FitMargin::kMiddle, fits, "fit");
  RequireRecipe("scale_jitter_min", fit.scale_min != 0, fits, "fit");
  RequireRecipe("scale_jitter_max", fit.scale_max != 0, fits, "fit");
  RequireRange("fit_fill", fit.fill, 0, 255);
  RequireRange("scale_jitter_max", fit.scale_max, 0.01, 10);
  if ((fit.scale_min != 0 || fit.scale_max != 0) &&
      !(fit.scale_min > 0 && fit.scale_min <= fit.scale_max)) {
    throw UsageError("scale_jitter_min=" + std::to_string(fit.scale_min) +
                     " and scale_jitter_max=" + std::to_string(fit.scale_max) +
                     ": give both, the first one above 0 and at most the "
                     "second");
  }
}

void CheckPreprocessOptions(const PreprocessOptions& options) {
  CheckAugmentOptions(options.augment);
  CheckCropOptions(options.crop, options.recipe, options.image_size);
  CheckFitOptions(options.fit, options.recipe);
}

ImageSize EvalCover(const CropOptions& crop, const ImageSize& image_size) {
  if (crop.eval_resize > 0) {
    return crop.eval_resize;
  }
  const auto cover = [&](int side) {
    return crop.eval_crop > 0
               ? static_cast<int>(std::floor(side / crop.eval_crop))
               : static_cast<int>((std::int64_t{side} * 16 + 7) / 14);
  };
  return {cover(image_size.height), cover(image_size.width)};
}

float EvalCropFraction(const CropOptions& crop, const ImageSize& image_size) {
  if (crop.eval_crop > 0) {
    return static_cast<float>(crop.eval_crop);
  }
  const int side = image_size.shorter();
  const int padding =
      crop.eval_resize > 0
          ? crop.eval_resize - side
          : static_cast<int>(std::lrint(side * (1 / kReferenceFraction - 1)));
  return static_cast<float>(static_cast<double>(side) /
                            (static_cast<double>(side) + padding));
}

}  // namespace infeed

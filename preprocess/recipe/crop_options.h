#pragma once

#include "base/choices.h"
#include "preprocess/pixels/image_size.h"

namespace infeed {

// How an encoded image becomes a slot's pixels: docs/recipes.md.
enum class Recipe {
  kTpu,  // the reference: training crop and flip; evaluation centre crop
  kTorchvision,  // RandomResizedCrop, flip; evaluation resize, centre crop
  kPlain,        // the whole image resized; nothing random
  kCifar,        // the whole image; in training moved by up to 4 pixels, flip
};

inline constexpr Choices<Recipe, 4> kRecipes = {
    {{"tpu", Recipe::kTpu},
     {"torchvision", Recipe::kTorchvision},
     {"plain", Recipe::kPlain},
     {"cifar", Recipe::kCifar}}};

// Bounds of a recipe's crops; 0: the recipe's own.
struct CropOptions {
  // Training with kTorchvision: the smallest crop's part of the image's area
  // (0.08), and the largest ratio of a crop's sides (4/3).
  float scale = 0;
  float ratio = 0;
  // Evaluation with kTorchvision and kTpu: the pixels to which an image's
  // shorter side is resized before image_size is cut out of it, or image_size
  // as a part of the resized image, rounded down (timm's crop_pct).
  int eval_resize = 0;
  double eval_crop = 0;
  // Crops of an image in an evaluation with kTorchvision and kTpu, 1, 5 or 10:
  // EvalView.
  int eval_crops = 1;

  friend bool operator==(const CropOptions&, const CropOptions&) = default;
};

// Throws UsageError for bounds out of range, or that the recipe does not have.
void CheckCropOptions(const CropOptions& crop, Recipe recipe,
                      const ImageSize& image_size);

// Evaluation of kTorchvision: an image is resized until it just covers this
// rectangle, before image_size is cut out; 256 for a side of 224, for other
// sides in proportion, rounded half up. With eval_resize it is a square, so
// that the image's shorter side has these pixels.
[[nodiscard]] ImageSize EvalCover(const CropOptions& crop,
                                  const ImageSize& image_size);

// Evaluation of kTpu: the centre crop's part of the shorter side; 0.875 for
// 224, about that for other sizes. Of image_size the shorter side counts.
[[nodiscard]] float EvalCropFraction(const CropOptions& crop,
                                     const ImageSize& image_size);

}  // namespace infeed

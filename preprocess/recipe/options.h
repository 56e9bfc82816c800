#pragma once

#include "base/choices.h"
#include "preprocess/augment/options.h"
#include "preprocess/jpeg/jpeg.h"
#include "preprocess/pixels/image_size.h"

namespace infeed {

// How an encoded image becomes a slot's pixels: docs/recipes.md.
enum class Recipe {
  kTpu,  // the reference: training crop and flip; evaluation centre crop
  kTorchvision,  // RandomResizedCrop, flip; evaluation resize, centre crop
  kPlain,        // the whole image resized; nothing random but iou_crop
  kCifar,        // the whole image; in training moved by up to 4 pixels, flip
  kFit,  // the whole image in its own shape, with margins; in training flip
};

inline constexpr Choices<Recipe, 5> kRecipes = {
    {{"tpu", Recipe::kTpu},
     {"torchvision", Recipe::kTorchvision},
     {"plain", Recipe::kPlain},
     {"cifar", Recipe::kCifar},
     {"fit", Recipe::kFit}}};

// Where kFit leaves its margins.
enum class FitMargin {
  kMiddle,  // on both sides; one pixel more at the right or below if odd
  kEnd,     // at the right and below
};

inline constexpr Choices<FitMargin, 2> kFitMargins = {
    {{"middle", FitMargin::kMiddle}, {"end", FitMargin::kEnd}}};

// How a window becomes an output's pixels (ResizeKernel).
enum class Interpolation {
  kRecipe,     // the recipe's own: bicubic for tpu and plain, else antialias
  kBicubic,    // TensorFlow's legacy bicubic (preprocess/resize/resize.h)
  kBilinear,   // two samples each way, whatever the scale; half-pixel centres
  kAntialias,  // bilinear over as many samples as the scale: Pillow's
  kAntialiasBicubic,  // Pillow's bicubic, over twice as many samples
  kAntialiasRandom,   // one of these two, drawn for each sample; the second in
                      // an evaluation: timm's "random"
};

inline constexpr Choices<Interpolation, 6> kInterpolations = {
    {{"recipe", Interpolation::kRecipe},
     {"bicubic", Interpolation::kBicubic},
     {"bilinear", Interpolation::kBilinear},
     {"antialias", Interpolation::kAntialias},
     {"antialias_bicubic", Interpolation::kAntialiasBicubic},
     {"antialias_random", Interpolation::kAntialiasRandom}}};

// Bounds of a recipe's crops; 0: the recipe's own.
struct CropOptions {
  // Training with kTorchvision: the smallest crop's part of the image's area
  // (0.08), the largest one's, and the largest ratio of a crop's sides (4/3).
  float scale = 0;
  float max_scale = 1;
  float ratio = 0;
  // Evaluation with kTorchvision and kTpu: the pixels to which an image's
  // shorter side is resized before image_size is cut out of it, or image_size
  // as a part of the resized image, rounded down (timm's crop_pct).
  int eval_resize = 0;
  double eval_crop = 0;
  // Crops of an image in an evaluation with kTorchvision and kTpu, 1, 5 or 10:
  // EvalView.
  int eval_crops = 1;
  // Training with kPlain and kFit: IouCropWindow() takes the place of the whole
  // image, and kPlain mirrors, too.
  bool iou_crop = false;

  [[nodiscard]] float min_scale() const { return scale == 0 ? 0.08F : scale; }

  friend bool operator==(const CropOptions&, const CropOptions&) = default;
};

// Of kFit.
struct FitOptions {
  static constexpr int kFill = 114;

  int fill = kFill;  // level of the margins' three channels
  FitMargin margin = FitMargin::kMiddle;
  // Training: a factor of the size at which the image just fits is drawn from
  // scale_min..scale_max; the output is a part of an image that becomes larger,
  // and margins are at the end. Both 0: none.
  double scale_min = 0;
  double scale_max = 0;

  [[nodiscard]] bool is_scaled() const { return scale_max > 0; }

  friend bool operator==(const FitOptions&, const FitOptions&) = default;
};

// What is done with an image's pixels once they are made.
struct PixelUse {
  bool read = false;    // they stay in the caches, for the caller
  bool hashed = false;  // HashPixels() of them counts in FillCounts::made
};

struct PreprocessOptions {
  Recipe recipe = Recipe::kTpu;
  Interpolation interpolation = Interpolation::kRecipe;
  // For recipes that mirror training images; set false for digits and letters,
  // which mirroring makes invalid.
  bool random_flip = true;
  CropOptions crop = {};
  FitOptions fit = {};
  ImageSize image_size = 224;  // of the output, pixels; > 0
  // Decodes a JPEG at 1/2, 1/4 or 1/8 of its size if it then still has as many
  // pixels, in each direction, as the resized output: less work, but other
  // pixels (as if the image had first been reduced by area means, which aliases
  // less).
  bool scaled_decode = false;
  AugmentOptions augment = {};  // of training images, the last step
  JpegLimits limits = {};       // also for other image formats
  // A JPEG that libjpeg warns about is used, not bad.
  bool lenient = false;

  friend bool operator==(const PreprocessOptions&,
                         const PreprocessOptions&) = default;
};

// The order of a stored box's four numbers: c is a centre, w and h are sizes.
enum class BoxFormat { kXyxy, kYxyx, kXywh, kCxcywh };

inline constexpr Choices<BoxFormat, 4> kBoxFormats = {
    {{"xyxy", BoxFormat::kXyxy},
     {"yxyx", BoxFormat::kYxyx},
     {"xywh", BoxFormat::kXywh},
     {"cxcywh", BoxFormat::kCxcywh}}};

// What of a box must be in the output.
enum class BoxKeep {
  kArea,    // a part of it
  kCentre,  // its centre
};

inline constexpr Choices<BoxKeep, 2> kBoxKeeps = {
    {{"area", BoxKeep::kArea}, {"centre", BoxKeep::kCentre}}};

// Which boxes an output keeps. The first two are those of torchvision's
// SanitizeBoundingBoxes.
struct BoxFilter {
  float min_size = 1;     // of width and height in the output, pixels
  float min_area = 1;     // in the output, pixels
  float min_visible = 0;  // in the output, as a part of the area in the image
  BoxKeep keep = BoxKeep::kArea;
  // The centre must be in the window: RandomIoUCrop's rule, for iou_crop.
  bool centre_in_window = false;

  friend bool operator==(const BoxFilter&, const BoxFilter&) = default;
};

// Throws UsageError for bounds out of range, or that the recipe does not have.
void CheckCropOptions(const CropOptions& crop, Recipe recipe,
                      const ImageSize& image_size);
// The same.
void CheckFitOptions(const FitOptions& fit, Recipe recipe);
// Throws what these throw, and CheckAugmentOptions().
void CheckPreprocessOptions(const PreprocessOptions& options);

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

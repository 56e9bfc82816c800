#include "preprocess/recipe/recipe.h"

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "base/error.h"
#include "preprocess/codecs/image_decoder.h"
#include "preprocess/codecs/stored_size.h"
#include "preprocess/jpeg/outside_pixels.h"
#include "preprocess/pixels/pack.h"
#include "preprocess/pixels/packed_copy.h"
#include "preprocess/pixels/pixel_hash.h"
#include "preprocess/pixels/row_sink.h"
#include "preprocess/recipe/crop.h"
#include "preprocess/recipe/framing.h"
#include "preprocess/recipe/pair.h"

namespace infeed {
namespace {

using Clock = std::chrono::steady_clock;

// Bytes per pixel for OpenCV's image, ours, and OpenCV's decoders.
constexpr std::int64_t kOtherPixelBytes = 8;

// The window of one of the crops, each with the centre crop's size.
Window PlaceWindow(const EvalView& view, int height, int width, Window centre) {
  centre.y = view.PlaceY(height, centre.height, centre.y);
  centre.x = view.PlaceX(width, centre.width, centre.x);
  return centre;
}

Framing PlaceOutput(const EvalView& view, const ImageSize& size,
                    Framing centre) {
  if (centre.height >= size.height && centre.width >= size.width) {
    centre.y = view.PlaceY(centre.height, size.height, centre.y);
    centre.x = view.PlaceX(centre.width, size.width, centre.x);
  }
  return centre;
}

void CheckPackedSize(std::int64_t height, std::int64_t width,
                     const ImageSize& size) {
  if (height == size.height && width == size.width) {
    return;
  }
  const std::string sides =
      std::to_string(height) + "x" + std::to_string(width);
  throw DataError("packed pixels of " + sides + " where image_size is " +
                  SizeText(size) + ": read them with image_size " +
                  (height == width ? std::to_string(height) : sides) +
                  ", or convert again with --image_size " + SizeText(size));
}

// Whether a recipe can show a part of an image.
bool IsCropped(const PreprocessOptions& options) {
  return options.recipe == Recipe::kTpu ||
         options.recipe == Recipe::kTorchvision || options.crop.iou_crop;
}

Framing WholeFraming(const ImageSize& size) {
  return WholeWindow(
      {.y = 0, .x = 0, .height = size.height, .width = size.width}, size);
}

// With the image's length: a record may have several of the same size.
std::uint64_t HashOf(std::size_t encoded_bytes, const DecodePlan& plan,
                     ResizeKernel kernel) {
  return HashChain()
      .Add(encoded_bytes)
      .Add(kernel)
      .Add(plan.denominator)
      .Add(plan.sides.fill)
      .hash();
}

bool DrawFlip(const SampleKey& key) {
  return SampleRandom(key, RandomStream::kFlip).Real() < 0.5F;
}

}  // namespace

void FillCounts::Add(const FillCounts& other) {
  decoded_pixels += other.decoded_pixels;
  outside_pixels += other.outside_pixels;
  decode += other.decode;
  resize += other.resize;
  augment += other.augment;
  made = HashChain(made).Add(other.made).hash();
  if (warning.empty()) {
    warning = other.warning;
  }
}

void FillCounts::AddPixels(std::uint64_t hash) {
  made = HashChain(made).Add(hash).hash();
}

Preprocessor::Preprocessor(const PreprocessOptions& options, bool training,
                           PixelUse use)
    : Preprocessor(
          options, training,
          Resizers(UsedInterpolation(options, training), options.image_size),
          use) {}

Preprocessor::Preprocessor(const PreprocessOptions& options, bool training,
                           Resizers resizers, PixelUse use)
    : options_(options),
      training_(training),
      interpolation_(UsedInterpolation(options, training)),
      use_(use),
      decoder_(options.limits, options.lenient ? JpegWarnings::kTolerated
                                               : JpegWarnings::kErrors),
      resizers_(std::move(resizers)),
      augmenter_(options.augment, options.image_size) {
  CheckPreprocessOptions(options);
}

struct Preprocessor::Target {
  const SampleKey& key;
  ResizeKernel kernel;
  std::span<std::uint32_t> image;
  const BoxSource& boxes;
  const FollowedOutput* followed;
};

FillCounts Preprocessor::Fill(std::span<const std::byte> encoded,
                              const SampleKey& key,
                              std::span<std::uint32_t> destination,
                              std::span<const std::byte> seek_index,
                              std::string* found, const BoxSource& boxes,
                              const FollowedOutput* followed) {
  const Clock::time_point start = Clock::now();
  const Target target{.key = key,
                      .kernel = KernelOf(interpolation_, key),
                      .image = destination,
                      .boxes = boxes,
                      .followed = followed};
  known_ = nullptr;
  if (found != nullptr) {
    found->clear();
  }
  FillCounts counts = IsJpeg(encoded)
                          ? DecodeJpeg(encoded, seek_index, target, found)
                          : DecodeOther(encoded, target);
  ResizeSink& resize = resizers_.Of(target.kernel);
  Check(resize.is_complete(), "a decoder puts all rows or throws");
  counts.resize = resize.busy();
  const Clock::time_point decoded = Clock::now();
  counts.decode = decoded - start - counts.resize;
  Finish(target, counts.geometry);
  counts.resize += Clock::now() - decoded;
  counts.augment = Augment(key, destination);
  HashResult(counts);
  HashPixelsOf(destination, &resize, counts);
  return counts;
}

RowSink& Preprocessor::Aim(const DecodePlan& plan, bool is_mirrored,
                           const Target& target) {
  ResizeSink& resize = resizers_.Of(target.kernel);
  const PixelStores once =
      use_.hashed ? PixelStores::kHashed : PixelStores::kPastCaches;
  resize.Aim(target.image, is_mirrored, plan.sides,
             IsReadAgain() ? PixelStores::kInCaches : once);
  return resize;
}

FillCounts Preprocessor::DecodeJpeg(std::span<const std::byte> encoded,
                                    std::span<const std::byte> seek_index,
                                    const Target& target, std::string* found) {
  const JpegInfo info = decoder_.ReadHeader(encoded);
  const ImageSize source(info.height, info.width);
  const Framing framing = ChooseFraming(source, info.components, target);
  const Geometry geometry = Describe(framing, source, target.key);
  const DecodePlan plan = Plan(framing, target.kernel, options_.scaled_decode);
  const bool is_index =
      !seek_index.empty() && ParseSeekIndex(seek_index, index_);
  decoder_.DecodeScaledWindow(
      plan.denominator, plan.window, Aim(plan, geometry.is_mirrored, target),
      is_index ? &index_ : nullptr, found != nullptr ? &found_ : nullptr);
  const JpegIndexUse use = is_index || seek_index.empty()
                               ? decoder_.index_use()
                               : JpegIndexUse::kRefused;
  known_ = use == JpegIndexUse::kUsed ? &index_ : nullptr;
  int found_rows = 0;
  if (found != nullptr && !found_.entries.empty()) {
    *found = SerializeSeekIndex(found_);
    found_rows = found_.covered_rows() -
                 (known_ != nullptr ? known_->covered_rows() : 0);
    known_ = &found_;
  }
  return {
      .decoded_pixels = std::int64_t{plan.window.width} * plan.window.height,
      .outside_pixels =
          OutsidePixels(info, plan.window, plan.denominator,
                        use == JpegIndexUse::kUsed ? &index_ : nullptr),
      .index_use = use,
      .index_rows = known_ != nullptr ? known_->mcu_rows : 0,
      .covered_rows = known_ != nullptr ? known_->covered_rows() : 0,
      .found_rows = found_rows,
      .warning = decoder_.warning(),
      .geometry = geometry,
      .made = HashOf(encoded.size(), plan, target.kernel)};
}

std::string Preprocessor::CompleteIndex(std::span<const std::byte> encoded) {
  return known_ != nullptr && !known_->is_complete() &&
                 decoder_.CompleteIndex(encoded, *known_)
             ? SerializeSeekIndex(*known_)
             : "";
}

FillCounts Preprocessor::DecodeOther(std::span<const std::byte> encoded,
                                     const Target& target) {
  const JpegLimits& limits = options_.limits;
  DecodeOtherImage(
      encoded,
      std::min(limits.max_pixels, limits.max_memory_bytes / kOtherPixelBytes),
      image_);
  const ImageSize source(image_.height(), image_.width());
  const Framing framing = ChooseFraming(source, 3, target);
  const Geometry geometry = Describe(framing, source, target.key);
  const DecodePlan plan = Plan(framing, target.kernel, false);
  PutImage(image_.view(plan.window), Aim(plan, geometry.is_mirrored, target));
  const std::int64_t inside =
      std::int64_t{plan.window.width} * plan.window.height;
  return {
      .decoded_pixels = inside,
      .outside_pixels = std::int64_t{image_.width()} * image_.height() - inside,
      .geometry = geometry,
      .made = HashOf(encoded.size(), plan, target.kernel)};
}

Framing Preprocessor::ChooseFraming(const ImageSize& source, int components,
                                    const Target& target) const {
  if (target.followed == nullptr) {
    return DrawFraming(source, components, target);
  }
  const ImageSize& followed = target.followed->geometry.source;
  const int times = WholeRatio(source, followed);
  if (times > 0) {
    Framing framing = target.followed->gives_framing
                          ? FramingAtSize(*target.followed, options_.image_size)
                          : DrawFraming(followed, components, target);
    framing.window = Enlarged(framing.window, times);
    return framing;
  }
  if (IsCropped(options_)) {
    throw DataError("the image has " +
                    WidthAndHeight({source.width, source.height}) +
                    " pixels, the one that it follows " +
                    WidthAndHeight({followed.width, followed.height}) +
                    ": expected that size, or a whole multiple of it");
  }
  return DrawFraming(source, components, target);
}

Framing Preprocessor::DrawFraming(const ImageSize& source, int components,
                                  const Target& target) const {
  const auto [height, width] = source;
  const ImageSize& size = options_.image_size;
  SampleRandom random(target.key, RandomStream::kCrop);
  const EvalView view(options_.crop.eval_crops, target.key.position);
  Window window{.y = 0, .x = 0, .height = height, .width = width};
  if (training_ && options_.crop.iou_crop && target.boxes) {
    window = IouCropWindow(source, target.boxes(source), random);
  }
  switch (options_.recipe) {
    case Recipe::kTpu:
      return WholeWindow(
          training_
              ? TrainingWindow(height, width, components, size, random)
              : PlaceWindow(view, height, width,
                            CenterCropWindow(
                                height, width,
                                EvalCropFraction(options_.crop, size), size)),
          size);
    case Recipe::kTorchvision:
      return training_ ? WholeWindow(RandomResizedCropWindow(
                                         height, width, options_.crop, random),
                                     size)
                       : PlaceOutput(
                             view, size,
                             ResizedCenterCrop(height, width, size,
                                               EvalCover(options_.crop, size)));
    case Recipe::kPlain:
    case Recipe::kCifar:
      return WholeWindow(window, size);
    case Recipe::kFit:
      return training_ && options_.fit.is_scaled()
                 ? JitterScale(window, size, options_.fit, random)
                 : FitWindow(window, size, options_.fit.margin);
  }
  std::abort();
}

DecodePlan Preprocessor::Plan(const Framing& framing, ResizeKernel kernel,
                              bool is_scaled) const {
  DecodePlan plan = PlanDecode(framing, kernel, options_.image_size, is_scaled);
  if (options_.recipe == Recipe::kFit) {
    const auto level = static_cast<std::uint32_t>(options_.fit.fill);
    plan.sides.fill = PackPixel(level, level, level);
  }
  return plan;
}

Geometry Preprocessor::Describe(const Framing& framing, const ImageSize& source,
                                const SampleKey& key) const {
  Geometry geometry = GeometryOf(framing, source);
  geometry.is_mirrored = IsFlipped(options_, training_, key);
  geometry.is_upside_down = training_ && IsUpsideDown(options_.augment, key);
  return geometry;
}

bool IsFlipped(const PreprocessOptions& options, bool training,
               const SampleKey& key) {
  if (!training) {
    return EvalView(options.crop.eval_crops, key.position).is_mirrored();
  }
  return (options.recipe != Recipe::kPlain || options.crop.iou_crop) &&
         options.random_flip && DrawFlip(key);
}

void Preprocessor::Finish(const Target& target, Geometry& geometry) const {
  if (!IsMoved()) {
    return;
  }
  Move move;
  if (target.followed != nullptr && target.followed->gives_framing) {
    const Geometry shown = AtSize(*target.followed, options_.image_size);
    move = {.down = -shown.y, .right = -shown.x};
    geometry.padding = shown.padding;
  } else {
    SampleRandom random(target.key, RandomStream::kCrop);
    move = DrawMove(random);
    geometry.padding = Move::kPadding;
  }
  geometry.y = -move.down;
  geometry.x = -move.right;
  // The recipe moves before it mirrors, but the pixels are already mirrored.
  move.right = geometry.is_mirrored ? -move.right : move.right;
  MovePixels(move, options_.image_size, target.image);
}

void Preprocessor::CheckShowsAll(const Target& target) const {
  const ImageSize& size = options_.image_size;
  if (target.followed != nullptr && target.followed->gives_framing &&
      ChooseFraming(size, 3, target) != WholeFraming(size)) {
    throw DataError(
        "packed pixels are a whole image, and the image that they follow shows "
        "a part of one");
  }
}

void Preprocessor::HashResult(FillCounts& counts) const {
  HashChain hash(counts.made);
  hash.Add(HashGeometry(counts.geometry, options_.image_size));
  if (IsAugmented()) {
    for (const AugmentStep& step : augmenter_.steps()) {
      AddStep(step, hash);
    }
  }
  counts.made = hash.hash();
}

void Preprocessor::HashPixelsOf(std::span<const std::uint32_t> pixels,
                                const ResizeSink* resize,
                                FillCounts& counts) const {
  if (!use_.hashed) {
    return;
  }
  const Clock::time_point start = Clock::now();
  const bool is_hashed = resize != nullptr && !IsReadAgain();
  counts.AddPixels(is_hashed ? resize->hash()
                             : HashPixels(std::as_bytes(pixels)));
  counts.resize += Clock::now() - start;
}

std::uint64_t HashOfPacked(const ImageSize& size, bool is_mirrored) {
  Geometry geometry = GeometryOf(WholeFraming(size), size);
  geometry.is_mirrored = is_mirrored;
  return HashChain().Add(HashGeometry(geometry, size)).hash();
}

Clock::duration Preprocessor::Augment(const SampleKey& key,
                                      std::span<std::uint32_t> pixels) {
  if (!IsAugmented()) {
    return {};
  }
  const Clock::time_point start = Clock::now();
  augmenter_.Apply(pixels, key);
  return Clock::now() - start;
}

FillCounts Preprocessor::CopyPacked(
    std::span<const std::byte> packed, std::int64_t height, std::int64_t width,
    const SampleKey& key, std::span<std::uint32_t> destination,
    const std::function<void(std::span<const std::byte>)>& on_piece,
    const FollowedOutput* followed) {
  const Clock::time_point start = Clock::now();
  const ImageSize& size = options_.image_size;
  Check(destination.size() == size.pixels(),
        "a slot has the pixels of one image");
  CheckPackedSize(height, width, size);
  if (packed.size() != destination.size_bytes()) {
    throw DataError("image/packed has " + std::to_string(packed.size()) +
                    " bytes, expected " +
                    std::to_string(destination.size_bytes()));
  }
  const Target target{.key = key,
                      .kernel = {},
                      .image = destination,
                      .boxes = {},
                      .followed = followed};
  CheckShowsAll(target);
  FillCounts counts{.geometry = Describe(WholeFraming(size), size, key)};
  CopyPackedPixels(packed, size.width, counts.geometry.is_mirrored, destination,
                   on_piece, use_.hashed || IsReadAgain());
  Finish(target, counts.geometry);
  counts.resize = Clock::now() - start;
  counts.augment = Augment(key, destination);
  HashResult(counts);
  HashPixelsOf(destination, nullptr, counts);
  return counts;
}

}  // namespace infeed

#pragma once

#include "preprocess/pixels/image_size.h"
#include "preprocess/recipe/framing.h"
#include "preprocess/recipe/geometry.h"
#include "preprocess/recipe/options.h"

// Pairs: an output that shows what an earlier one of its sample shows, of the
// same image or of another one, such as the same in a higher resolution. A
// place of the first output at a part of its height and width is then at the
// same parts of the second one's, exactly.
namespace infeed {

// The earlier output of a sample whose draws another one has.
struct FollowedOutput {
  Geometry geometry;
  ImageSize size;
  // The two are a pair: SharesFraming(). Else the other one's window is drawn
  // by its own options, for the source of this one.
  bool gives_framing = false;
};

// Whether the options frame an image in the same way: they have one recipe and
// crop, and eval_resize is the same, or in proportion to image_size.
[[nodiscard]] bool SharesFraming(const PreprocessOptions& options,
                                 const PreprocessOptions& followed);

// Whether a pair of these sizes can show the same to the pixel: one is a whole
// number of times as large as the other, or the recipe's outputs are whole
// windows, which can have any size. Requires: SharesFraming().
[[nodiscard]] bool IsExactPair(const PreprocessOptions& options,
                               const PreprocessOptions& followed,
                               bool training);

// How many times as large a size is each way as another one; 0: not the same
// whole number of times.
[[nodiscard]] int WholeRatio(const ImageSize& size, const ImageSize& other);

// A window of an image, in one that is `times` as large.
[[nodiscard]] Window Enlarged(const Window& window, int times);

// The geometry of an output of that size that shows what the followed one
// shows, of the same source. Requires: IsExactPair().
[[nodiscard]] Geometry AtSize(const FollowedOutput& followed,
                              const ImageSize& size);

// Its framing, but for kCifar's move, which follows the resize.
[[nodiscard]] Framing FramingAtSize(const FollowedOutput& followed,
                                    const ImageSize& size);

}  // namespace infeed

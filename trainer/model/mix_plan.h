#pragma once

#include <cstdint>

#include "preprocess/pixels/image_size.h"

namespace infeed {

struct MixOptions {
  double mixup_alpha = 0;   // of Beta(alpha, alpha); 0: no MixUp
  double cutmix_alpha = 0;  // 0: no CutMix; with both, each step has one
  std::uint64_t seed = 0;

  [[nodiscard]] bool any() const { return mixup_alpha > 0 || cutmix_alpha > 0; }
};

// How each image of a step is mixed with its partner. A pixel in the box is
// inside * own + (1 - inside) * partner's; any other pixel is the same with
// `outside`. The target is label_share * own label + (1 - label_share) *
// partner's.
struct Mix {
  float outside = 1;
  float inside = 1;
  float left = 0;  // of the box, in pixels; right and bottom are exclusive
  float top = 0;
  float right = 0;
  float bottom = 0;
  float label_share = 1;
};

// The Mix of a step. With MixUp (Zhang et al., arXiv 1710.09412) all pixels and
// the label are mixed by a share drawn from Beta(alpha, alpha). With CutMix
// (Yun et al., arXiv 1905.04899) a box of 1 - share of the image's area and its
// shape, its centre anywhere, cut at the edges, is the partner's; the label is
// mixed by the area that is left. A pure function of its arguments: drawn from
// stream 5 of the seed at (epoch 0, position step), so that a resumed run mixes
// as an uninterrupted one.
[[nodiscard]] Mix DrawMix(std::int64_t step, const ImageSize& image_size,
                          const MixOptions& options);

}  // namespace infeed

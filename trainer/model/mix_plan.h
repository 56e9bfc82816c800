#pragma once

#include <cstdint>

namespace infeed {

struct MixOptions {
  double mixup_alpha = 0;   // of Beta(alpha, alpha); 0: no MixUp
  double cutmix_alpha = 0;  // 0: no CutMix; with both, each step has one
  std::uint64_t seed = 0;

  [[nodiscard]] bool any() const { return mixup_alpha > 0 || cutmix_alpha > 0; }
};

// How the images of a step are mixed, each with its partner: a pixel in the box
// is `inside` times its own and the rest its partner's, any other `outside`
// times. The target is label_share times the own label's.
struct Mix {
  float outside = 1;
  float inside = 1;
  float left = 0;  // of the box, in pixels; right and bottom are outside of it
  float top = 0;
  float right = 0;
  float bottom = 0;
  float label_share = 1;
};

// MixUp (Zhang et al., arXiv 1710.09412): all pixels and the label by a share
// of Beta(alpha, alpha). CutMix (Yun et al., arXiv 1905.04899): a box of 1 -
// that share of the image, its centre anywhere, cut at the edges; the label by
// what is left of the image. A pure function of its arguments: drawn from
// stream 5 of the seed at (epoch 0, position step), so that a resumed run
// mixes as an uninterrupted one.
[[nodiscard]] Mix MixOf(std::int64_t step, int image_size,
                        const MixOptions& options);

}  // namespace infeed

#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "pipeline/engine/batch_lookup.h"
#include "pipeline/memory/batch.h"
#include "preprocess/pixels/image_size.h"
#include "trainer/log/pictures.h"
#include "trainer/replay/recorded_input.h"
#include "trainer/replay/step_place.h"

namespace infeed {

// A model's result on an image. loss: the cross-entropy against the label,
// without label smoothing; unspecified for an image without a label.
struct ImageResult {
  float loss = 0;
  int predicted = 0;
  float probability = 0;
};

// An image of a replayed step.
struct ReplayedImage {
  int slot = 0;  // of the global batch, in the order of the ranks' shares
  int rank = 0;
  SampleDescription sample = {};
  // As the network saw it, but not mixed, and RecordPicture(): of ShownImages()
  // only.
  WebPicture seen = {};
  WebPicture record = {};
  // The slot with which the step mixed it, -1: none, and its own label's share.
  int partner = -1;
  double share = 1;
  std::optional<ImageResult> result = {};
};

struct ReplayedStep {
  StepPlace place = {};
  ImageSize image_size = {};
  int world_size = 1;
  // The checkpoint of the results, by its step; absent: there are none.
  std::optional<std::int64_t> checkpoint = {};
  std::vector<ReplayedImage> images = {};  // by slot, without empty slots
};

// The numbers of the images that a page shows, at most 256: those with the
// highest loss first, else by slot. A loss that is not a number comes first, an
// image without a label last.
[[nodiscard]] std::vector<std::size_t> ShownImages(const ReplayedStep& step);

// Returns the results of a batch's slots.
using BatchJudge = std::function<std::vector<ImageResult>(BatchHandle batch)>;

// Makes the batch of a step again: the shares of all ranks, or of one. judge:
// may be empty. Throws UsageError for a rank that the run had not, and as
// RecordedInput::At() and BatchLookup.
[[nodiscard]] ReplayedStep ReplayStep(const RecordedInput& input,
                                      std::int64_t step,
                                      std::optional<int> rank = {},
                                      const BatchJudge& judge = {});

}  // namespace infeed

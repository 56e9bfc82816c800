#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "base/choices.h"
#include "preprocess/pixels/image_size.h"
#include "records/example/fields.h"

namespace infeed {

class Batch;
struct PoolState;

// A place in the stream of samples: with the seed and the data set it
// determines everything that follows. position counts global samples of the
// epoch; past_epochs is the number of epochs that the stream has completed, for
// `repeat`: 0 where the stream begins.
struct StreamPosition {
  std::uint32_t epoch = 0;
  std::int64_t position = 0;
  std::uint32_t past_epochs = 0;

  friend bool operator==(const StreamPosition&,
                         const StreamPosition&) = default;
};

// The content of a batch's slots.
enum class BatchContent {
  kPixels,  // images as packed words, R << 24 | G << 16 | B << 8
  kRgb,     // images as bytes R G B
  kNone,    // no images: fields alone
  kChoices  // numbers of images that a device holds (image_choice.h)
};

// Layouts of a pipeline's images. kChoices is for the trainer alone.
inline constexpr Choices<BatchContent, 3> kLayouts = {
    {{"words", BatchContent::kPixels},
     {"rgb", BatchContent::kRgb},
     {"none", BatchContent::kNone}}};

// The content of the slots of a view beside the images.
enum class ViewContent {
  kImage,    // an image, in the batch's content: words or bytes R G B
  kLabels8,  // a label for each pixel, uint8
  kLabels32  // the same, int32
};

inline constexpr Choices<ViewContent, 3> kViewContents = {
    {{"none", ViewContent::kImage},
     {"uint8", ViewContent::kLabels8},
     {"int32", ViewContent::kLabels32}}};

// A view of each sample beside its image.
struct ViewShape {
  ImageSize image_size;
  ViewContent content = ViewContent::kImage;
  int fill = 0;  // of labels: where there is no image
};

// What the memory of a batch holds.
struct BatchSpec {
  int size = 0;          // slots; > 0
  ImageSize image_size;  // > 0
  BatchContent content = BatchContent::kPixels;
  std::vector<FieldSpec> fields = {};
  std::vector<ViewShape> views = {};
};

// Pins the memory of each batch of a pool, so that a device can copy from it by
// DMA: pin is called once the memory is mapped, unpin with the same bytes
// before it is unmapped. Both are set, or neither. They may be called from any
// thread; the pool's constructor passes on an exception of pin.
struct BatchMemory {
  using Hook = std::function<void(std::span<std::byte>)>;
  Hook pin = {};
  Hook unpin = {};
};

// The boxes of a batch's slots, one slot after the other. Clear() keeps their
// memory.
struct BoxColumn {
  // Slot i has the boxes from offsets[i] to before offsets[i + 1].
  std::vector<std::int64_t> offsets = {0};
  std::vector<float> xyxy = {};  // x1, y1, x2, y2 of each, pixels of the output

  void Clear() {
    // A batch's columns are its user's, who may have changed the zero.
    offsets.assign(1, 0);
    xyxy.clear();
  }
  // Appends a slot's boxes.
  void Append(std::span<const float> boxes) {
    xyxy.insert(xyxy.end(), boxes.begin(), boxes.end());
    offsets.push_back(static_cast<std::int64_t>(xyxy.size() / 4));
  }

  friend bool operator==(const BoxColumn&, const BoxColumn&) = default;
};

// Returns a batch to its pool; frees it when the pool is closed or there is
// none. In a child of fork() the batch of a pool is left as it is.
struct BatchReturn {
  std::shared_ptr<PoolState> pool = {};
  bool is_lent = false;
  void operator()(Batch* batch) const;
};

// A batch on loan: destroying the handle returns the batch to its pool.
using BatchHandle = std::unique_ptr<Batch, BatchReturn>;

}  // namespace infeed

// Per-target code: included once for each instruction set.
#if defined(INFEED_PREPROCESS_JPEG_ROWS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef INFEED_PREPROCESS_JPEG_ROWS_INL_H_
#undef INFEED_PREPROCESS_JPEG_ROWS_INL_H_
#else
#define INFEED_PREPROCESS_JPEG_ROWS_INL_H_
#endif

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "preprocess/jpeg_entropy/entropy-inl.h"
#include "preprocess/jpeg_entropy/order-inl.h"
#include "preprocess/jpeg_entropy/scan.h"
#include "preprocess/jpeg_entropy/scratch.h"
#include "preprocess/jpeg_pixels/color-inl.h"
#include "preprocess/jpeg_pixels/idct_scaled-inl.h"
#include "preprocess/pixels/row_sink.h"

HWY_BEFORE_NAMESPACE();
namespace infeed {
namespace HWY_NAMESPACE {

// The back half of a window decode: rows of MCUs as coefficients, top to
// bottom, become rows of pixels in a sink. Its memory belongs to the scratch,
// which must outlive it.
class RowMaker {
 public:
  RowMaker(const JpegScan& scan, PlainScratch& scratch, RowSink& sink);

  // Takes the next row of MCUs, starting with the plan's first: its blocks and
  // their ends as DecodeMcus() writes them. Returns false if libjpeg might
  // compute other samples.
  [[nodiscard]] bool Take(const std::int16_t* coefficients,
                          const std::uint8_t* ends);

 private:
  void PreparePlanes();
  void StoreQuantisers();
  [[nodiscard]] bool Transform(const std::int16_t* coefficients,
                               const std::uint8_t* ends);
  void CopyEdges(int component);
  void PutRowsOut();
  // row: R G B bytes, or planes.
  template <typename Row>
  void PutRowOut(int y, const Row& row);
  // The component's samples for the window's columns at the image's row y.
  const std::uint8_t* ChromaRow(int component, int y);
  [[nodiscard]] int RowsReady() const;

  const JpegScan& scan_;
  const WindowPlan& plan_;
  PlainScratch& scratch_;
  RowSink& sink_;
  int mcu_row_;  // the next one
  int next_y_;   // the next output row of the image
};

inline RowMaker::RowMaker(const JpegScan& scan, PlainScratch& scratch,
                          RowSink& sink)
    : scan_(scan),
      plan_(scratch.plan),
      scratch_(scratch),
      sink_(sink),
      mcu_row_(plan_.first_row),
      next_y_(plan_.window.y) {
  PreparePlanes();
  StoreQuantisers();
  sink_.Begin(plan_.window.width, plan_.window.height);
}

inline void RowMaker::PreparePlanes() {
  for (int i = 0; i < scan_.component_count; ++i) {
    const JpegComponent& component = scan_.components[i];
    const int size = plan_.components[i].size;
    SamplePlane& plane = scratch_.planes[i];
    const int width = plan_.mcus() * component.horizontal * size;
    plane.first = plan_.first_mcu * component.horizontal * size;
    plane.rows = 2 * component.vertical * size;
    plane.stride = (width + 2 * SamplePlane::kMargin + 63) / 64 * 64;
    plane.samples.Grow(static_cast<std::size_t>(plane.stride) * plane.rows);
  }
  for (AlignedBuffer<std::uint8_t>& row : scratch_.chroma) {
    row.Grow(static_cast<std::size_t>(plan_.window.width) +
             4 * SamplePlane::kMargin);
  }
}

inline void RowMaker::StoreQuantisers() {
  for (int i = 0; i < scan_.component_count; ++i) {
    const auto& table = scan_.quantisers[scan_.components[i].quantiser];
    for (int k = 0; k < 64; ++k) {
      scratch_.quantisers[i][kStoredPlace[k]] =
          static_cast<std::int16_t>(table[k]);
    }
  }
}

inline bool RowMaker::Take(const std::int16_t* coefficients,
                           const std::uint8_t* ends) {
  if (!Transform(coefficients, ends)) {
    return false;
  }
  ++mcu_row_;
  PutRowsOut();
  return true;
}

inline bool RowMaker::Transform(const std::int16_t* coefficients,
                                const std::uint8_t* ends) {
  bool regular = true;
  for (int i = 0; i < scan_.component_count; ++i) {
    const WindowPlan::Component& planned = plan_.components[i];
    const int vertical = scan_.components[i].vertical;
    for (int row = 0; row < vertical; ++row) {
      SamplePlane& plane = scratch_.planes[i];
      const auto& blocks = planned.blocks[row];
      regular &= InverseDctScaledRow(
          planned.size, coefficients, ends, blocks.data(),
          static_cast<int>(blocks.size()), scratch_.quantisers[i].data(),
          plane.At((mcu_row_ * vertical + row) * planned.size,
                   planned.first_block * planned.size),
          plane.stride);
    }
    if (i > 0 && plan_.blend_columns) {
      CopyEdges(i);
    }
  }
  return regular;
}

// Fills the columns beyond the image with copies of its last column.
inline void RowMaker::CopyEdges(int component) {
  const auto& [size, width, height, first, end, blocks] =
      plan_.components[component];
  SamplePlane& plane = scratch_.planes[component];
  for (int y = mcu_row_ * size; y < (mcu_row_ + 1) * size; ++y) {
    if (first == 0) {
      *plane.At(y, -1) = *plane.At(y, 0);
    }
    if (end * size >= width) {
      *plane.At(y, width) = *plane.At(y, width - 1);
    }
  }
}

// The number of rows that can be output: if rows are blended, the last one
// waits for the next row of MCUs.
inline int RowMaker::RowsReady() const {
  const int end = plan_.window.y + plan_.window.height;
  const int waiting = plan_.blend_rows && mcu_row_ < scan_.mcu_rows ? 1 : 0;
  return std::min(end, mcu_row_ * plan_.mcu_height - waiting);
}

inline void RowMaker::PutRowsOut() {
  const int count = RowsReady() - next_y_;
  if (count <= 0) {
    return;
  }
  const auto put = [&](const auto& rows) {
    for (int i = 0; i < count; ++i) {
      PutRowOut(next_y_ + i, rows.row(i));
    }
  };
  if (const std::optional<PlaneRows> planes = sink_.NextPlanes(count)) {
    put(*planes);
  } else {
    put(sink_.Next(count));
  }
  next_y_ += count;
  sink_.Filled();
}

template <typename Row>
void RowMaker::PutRowOut(int y, const Row& row) {
  const int width = plan_.window.width;
  const std::uint8_t* const first = scratch_.planes[0].At(y, plan_.window.x);
  if (scan_.color == JpegColor::kGray) {
    return GrayToRgb(first, width, row);
  }
  const std::uint8_t* const second = ChromaRow(1, y);
  const std::uint8_t* const third = ChromaRow(2, y);
  if (scan_.color == JpegColor::kRgb) {
    return PlanesToRgb(first, second, third, width, row);
  }
  YccToRgb(first, second, third, width, row);
}

inline const std::uint8_t* RowMaker::ChromaRow(int component, int y) {
  SamplePlane& plane = scratch_.planes[component];
  std::uint8_t* const out =
      scratch_.chroma[component - 1].data() + SamplePlane::kMargin;
  const Window& window = plan_.window;
  const int columns = plan_.columns_a_sample;
  const int first = window.x / columns;
  const int last = (window.x + window.width - 1) / columns;
  const int count = last - first + 1;
  const int near = y / plan_.rows_a_sample;
  // The row of samples on the other side of the pixels.
  const int far = std::clamp(near + (y % 2 == 0 ? -1 : 1), 0,
                             plan_.components[component].height - 1);
  const std::uint8_t* const in = plane.At(near, first);
  const std::uint8_t* const skewed = out + window.x % columns;
  if (!plan_.blend_columns && columns == 2) {
    ReplicateH2(in, count, out);
  } else if (plan_.blend_columns && plan_.blend_rows) {
    UpsampleH2V2(in, plane.At(far, first), count, out);
  } else if (plan_.blend_columns) {
    UpsampleH2V1(in, count, out);
  } else if (plan_.blend_rows) {
    UpsampleH1V2(in, plane.At(far, first), y % 2 == 1, count, out);
  } else {
    return in;
  }
  return skewed;
}

}  // namespace HWY_NAMESPACE
}  // namespace infeed
HWY_AFTER_NAMESPACE();

#endif  // INFEED_PREPROCESS_JPEG_ROWS_INL_H_

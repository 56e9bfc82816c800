#include "preprocess/jpeg_pixels/window.h"

#include <algorithm>
#include <cstddef>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "preprocess/jpeg_pixels/window.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "preprocess/jpeg_entropy/mcu_stream-inl.h"
#include "preprocess/jpeg_entropy/seek_rows-inl.h"
#include "preprocess/jpeg_pixels/rows-inl.h"

HWY_BEFORE_NAMESPACE();
namespace infeed {
namespace HWY_NAMESPACE {

// Without an index: skips the MCUs above and beside the window.
PlainResult DecodeInOrder(const PlainJpeg& jpeg, PlainScratch& scratch,
                          RowSink& sink) {
  const WindowPlan& plan = scratch.plan;
  const std::size_t blocks =
      static_cast<std::size_t>(plan.mcus()) * plan.blocks_per_mcu + 1;
  scratch.coefficients.Grow(blocks * 64);
  scratch.ends.Grow(blocks);
  McuStream stream(jpeg, scratch);
  RowMaker rows(jpeg.scan, scratch, sink);
  const int beside = jpeg.scan.mcus_per_row - plan.mcus();
  int passed = plan.first_row * jpeg.scan.mcus_per_row + plan.first_mcu;
  for (int row = plan.first_row; row < plan.end_row; ++row) {
    if (!stream.Pass(passed) ||
        !stream.Decode(plan.mcus(), scratch.coefficients.data(),
                       scratch.ends.data()) ||
        !rows.Take(scratch.coefficients.data(), scratch.ends.data())) {
      return PlainResult::kIrregular;
    }
    passed = beside;
  }
  // The last row is read completely, as by libjpeg; if it is the image's last
  // row, the data behind it is read, too.
  const bool is_last =
      plan.window.y + plan.window.height == plan.components[0].height;
  const bool regular = stream.Pass(jpeg.scan.mcus_per_row - plan.end_mcu) &&
                       (is_last ? stream.AtEnd() : !stream.NearsFileEnd());
  return regular ? PlainResult::kDone : PlainResult::kIrregular;
}

PlainResult DecodeByIndex(const PlainJpeg& jpeg, const JpegSeekIndex& index,
                          PlainScratch& scratch, RowSink& sink) {
  if (!SeekRows::Fits(jpeg, index)) {
    return PlainResult::kIndexRefused;
  }
  const WindowPlan& plan = scratch.plan;
  SeekRows source(jpeg, index, scratch);
  RowMaker rows(jpeg.scan, scratch, sink);
  for (int row = plan.first_row; row < plan.end_row;) {
    const int count = std::min(SeekRows::kAtOnce, plan.end_row - row);
    if (!source.Decode(row, count)) {
      return PlainResult::kIndexRefused;
    }
    for (int i = 0; i < count; ++i) {
      if (!rows.Take(source.coefficients(i), source.ends(i))) {
        return PlainResult::kIrregular;
      }
    }
    row += count;
  }
  return PlainResult::kDone;
}

PlainResult DecodeWindow(const PlainJpeg& jpeg, const JpegSeekIndex* index,
                         PlainScratch& scratch, RowSink& sink) {
  return index != nullptr ? DecodeByIndex(jpeg, *index, scratch, sink)
                          : DecodeInOrder(jpeg, scratch, sink);
}

}  // namespace HWY_NAMESPACE
}  // namespace infeed
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace infeed {

HWY_EXPORT(DecodeWindow);

PlainResult DecodePlainWindow(const PlainJpeg& jpeg, const JpegSeekIndex* index,
                              PlainScratch& scratch, RowSink& sink) {
  return HWY_DYNAMIC_DISPATCH(DecodeWindow)(jpeg, index, scratch, sink);
}

}  // namespace infeed
#endif  // HWY_ONCE

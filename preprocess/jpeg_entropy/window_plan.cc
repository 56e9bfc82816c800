#include "preprocess/jpeg_entropy/window_plan.h"

#include <algorithm>

#include "base/rounding.h"

namespace infeed {
namespace {

constexpr int kBlock = 8;  // samples a side

// A range of a component's samples.
struct Range {
  int first = 0;
  int last = 0;
};

// The samples, of `count` in all, for the pixels [first, first + size): one
// more on each side if neighbours are blended.
Range Samples(int first, int size, int factor, bool blend, int count) {
  const int margin = blend ? 1 : 0;
  return {std::max(0, first / factor - margin),
          std::min(count - 1, (first + size - 1) / factor + margin)};
}

// The side of a component's blocks in samples. If the component is coded at a
// lower resolution than the output image, libjpeg transforms its blocks to more
// samples instead of upsampling, if that fits both directions.
int BlockSize(const JpegScan& scan, const JpegComponent& component,
              int denominator) {
  const JpegComponent& luma = scan.components[0];
  const int least = kBlock / denominator;
  const auto divides = [&](int size) {
    return luma.horizontal * least % (component.horizontal * size) == 0 &&
           luma.vertical * least % (component.vertical * size) == 0;
  };
  int size = least;
  while (size < kBlock && divides(size * 2)) {
    size *= 2;
  }
  return size;
}

void PlanSizes(const JpegScan& scan, int denominator, WindowPlan& plan) {
  const JpegComponent& luma = scan.components[0];
  const int least = kBlock / denominator;
  for (int i = 0; i < scan.component_count; ++i) {
    const JpegComponent& component = scan.components[i];
    WindowPlan::Component& planned = plan.components[i];
    planned.size = BlockSize(scan, component, denominator);
    planned.width = CeilDiv(scan.width * component.horizontal * planned.size,
                            luma.horizontal * kBlock);
    planned.height = CeilDiv(scan.height * component.vertical * planned.size,
                             luma.vertical * kBlock);
  }
  plan.mcu_height = luma.vertical * least;
  plan.columns_a_sample = 1;
  plan.rows_a_sample = 1;
  plan.blend_columns = false;
  plan.blend_rows = false;
  if (scan.component_count == 1) {
    return;
  }
  const WindowPlan::Component& chroma = plan.components[1];
  plan.columns_a_sample = luma.horizontal * least / chroma.size;
  plan.rows_a_sample = luma.vertical * least / chroma.size;
  // libjpeg blends columns only if there are more than two, and rows only
  // together with columns.
  const bool wide = chroma.width > 2;
  const bool blend = least > 1;
  plan.blend_columns = blend && plan.columns_a_sample == 2 && wide;
  plan.blend_rows =
      blend && plan.rows_a_sample == 2 && (plan.columns_a_sample == 1 || wide);
}

void PlanRows(const JpegScan& scan, WindowPlan& plan) {
  const Window& window = plan.window;
  const int height = plan.mcu_height;
  const int last = window.y + window.height - 1;
  plan.first_row = window.y / height;
  plan.end_row = last / height + 1;
  if (plan.blend_rows) {
    const WindowPlan::Component& chroma = plan.components[1];
    const Range samples =
        Samples(window.y, window.height, 2, true, chroma.height);
    plan.first_row = samples.first / chroma.size;
    // libjpeg reads the next row of MCUs before it outputs the last two rows of
    // pixels of this one.
    if (last % height >= height - 2) {
      plan.end_row = std::min(plan.end_row + 1, scan.mcu_rows);
    }
  }
}

void PlanColumns(const JpegScan& scan, WindowPlan& plan) {
  const Window& window = plan.window;
  plan.first_mcu = scan.mcus_per_row;
  plan.end_mcu = 0;
  for (int i = 0; i < scan.component_count; ++i) {
    WindowPlan::Component& planned = plan.components[i];
    const Range samples =
        Samples(window.x, window.width, i == 0 ? 1 : plan.columns_a_sample,
                i > 0 && plan.blend_columns, planned.width);
    planned.first_block = samples.first / planned.size;
    planned.end_block = samples.last / planned.size + 1;
    const int horizontal = scan.components[i].horizontal;
    plan.first_mcu = std::min(plan.first_mcu, planned.first_block / horizontal);
    plan.end_mcu =
        std::max(plan.end_mcu, (planned.end_block - 1) / horizontal + 1);
  }
}

// Lists the blocks of each component; `first` is its first one in an MCU.
void ListBlocks(const JpegScan& scan, WindowPlan& plan) {
  int first = 0;
  for (int i = 0; i < scan.component_count; ++i) {
    const JpegComponent& component = scan.components[i];
    WindowPlan::Component& planned = plan.components[i];
    for (int row = 0; row < component.vertical; ++row) {
      std::vector<int>& blocks = planned.blocks[row];
      blocks.clear();
      for (int x = planned.first_block; x < planned.end_block; ++x) {
        const int mcu = x / component.horizontal - plan.first_mcu;
        blocks.push_back(mcu * plan.blocks_per_mcu + first +
                         row * component.horizontal + x % component.horizontal);
      }
    }
    first += component.horizontal * component.vertical;
  }
}

}  // namespace

void PlanWindow(const JpegScan& scan, const Window& window, int denominator,
                WindowPlan& plan) {
  const JpegComponent& luma = scan.components[0];
  plan.window = window;
  plan.blocks_per_mcu =
      scan.component_count == 1 ? 1 : luma.horizontal * luma.vertical + 2;
  PlanSizes(scan, denominator, plan);
  PlanRows(scan, plan);
  PlanColumns(scan, plan);
  ListBlocks(scan, plan);
}

}  // namespace infeed

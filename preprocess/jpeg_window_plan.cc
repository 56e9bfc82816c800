#include "preprocess/jpeg_window_plan.h"

#include <algorithm>

namespace infeed {
namespace {

constexpr int kBlock = 8;  // samples a side

// A range of a component's samples.
struct Range {
  int first = 0;
  int last = 0;
};

// The samples, of `count` in all, that make the pixels [first, first + size):
// one more on each side where neighbours are blended.
Range Samples(int first, int size, int factor, bool blend, int count) {
  const int margin = blend ? 1 : 0;
  return {std::max(0, first / factor - margin),
          std::min(count - 1, (first + size - 1) / factor + margin)};
}

void PlanRows(const JpegScan& scan, WindowPlan& plan) {
  const Window& window = plan.window;
  const int height = scan.mcu_height();
  const int last = window.y + window.height - 1;
  plan.first_row = window.y / height;
  plan.end_row = last / height + 1;
  if (plan.blend_rows) {
    const Range chroma =
        Samples(window.y, window.height, 2, true, scan.components[1].height);
    plan.first_row = chroma.first / kBlock;
    // libjpeg reads the next row of MCUs before it puts out the last two rows
    // of pixels of this one.
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
    const JpegComponent& component = scan.components[i];
    const int factor = scan.components[0].horizontal / component.horizontal;
    const Range samples =
        Samples(window.x, window.width, factor,
                factor == 2 && plan.blend_columns, component.width);
    WindowPlan::Component& planned = plan.components[i];
    planned.first_block = samples.first / kBlock;
    planned.end_block = samples.last / kBlock + 1;
    const int horizontal = component.horizontal;
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

void PlanWindow(const JpegScan& scan, const Window& window, WindowPlan& plan) {
  const JpegComponent& luma = scan.components[0];
  // libjpeg blends columns only where there are more than two of them, and
  // then the rows only with the columns.
  const bool wide = scan.components[1].width > 2;
  plan.window = window;
  plan.blend_columns = luma.horizontal == 2 && wide;
  plan.blend_rows = luma.vertical == 2 && (luma.horizontal == 1 || wide);
  plan.blocks_per_mcu =
      scan.component_count == 1 ? 1 : luma.horizontal * luma.vertical + 2;
  PlanRows(scan, plan);
  PlanColumns(scan, plan);
  ListBlocks(scan, plan);
}

}  // namespace infeed

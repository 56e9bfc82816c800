#pragma once

namespace infeed {

// What stands in a batch's slots: images, or which of those that a device
// holds (pipeline/memory/image_choice.h), or the crop windows that a device
// makes them of (pipeline/memory/batch_windows.h).
enum class BatchContent { kPixels, kChoices, kWindows };

}  // namespace infeed

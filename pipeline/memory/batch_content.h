#pragma once

namespace infeed {

// What a batch's slots hold: images; or numbers of images that a device holds
// (pipeline/memory/image_choice.h); or crop windows that a device resizes to
// images (pipeline/memory/batch_windows.h).
enum class BatchContent { kPixels, kChoices, kWindows };

}  // namespace infeed

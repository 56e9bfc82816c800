#pragma once

namespace infeed {

// What a batch's slots hold: images, or numbers of images that a device holds
// (pipeline/memory/image_choice.h).
enum class BatchContent { kPixels, kChoices };

}  // namespace infeed

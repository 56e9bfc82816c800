#pragma once

#include <string>

#include "records/store/image_tree.h"

namespace infeed {

// Formats of data sets that are a few raw files instead of image files.
enum class RawFormat {
  kImages,   // not raw: a folder of images
  kXlaJl,    // X_train.raw, Y_train.raw; X_val.raw, Y_val.raw
  kIdx,      // MNIST: train-images-idx3-ubyte and so on, with or without .gz
  kCifar10,  // data_batch_1.bin to 5, test_batch.bin, batches.meta.txt
};

// Finds the files of a format in a folder under their usual names, checks their
// sizes, reads their labels, and lists their images, named FILE#NUMBER, in file
// order. docs/converter.md has the formats and the names of their classes.
// Throws IoError, UsageError when the files are missing, DataError when a file
// does not match the format. Requires: not kImages.
[[nodiscard]] ImageTree FindRawImages(const std::string& folder,
                                      RawFormat format);

}  // namespace infeed

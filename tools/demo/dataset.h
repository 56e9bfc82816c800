#pragma once

#include <cstdint>
#include <string>

#include "base/random.h"

namespace infeed {

struct DemoDatasetOptions {
  std::int64_t train_images = 3000;      // of all classes together; >= 0
  std::int64_t validation_images = 500;  // likewise
  std::uint64_t seed = 0;
  int threads = 0;  // 0: one per core
};

struct DemoImageFile {
  std::string extension;  // jpg or png
  std::string bytes;
};

// Draws and encodes one picture: mostly baseline JPEGs of quality 70 to 96 with
// and without chroma subsampling, a few progressive JPEGs and a few PNGs. The
// bytes depend on class and key alone.
[[nodiscard]] DemoImageFile MakeDemoImage(int demo_class, const SampleKey& key);

// Writes FOLDER/{train,validation}/<class>/NNNN.{jpg,png}, the images spread
// evenly over the ten classes. The bytes depend on the seed alone. Throws
// IoError.
void WriteDemoDataset(const std::string& folder,
                      const DemoDatasetOptions& options);

}  // namespace infeed

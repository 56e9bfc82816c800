#include "tools/demo/dataset.h"

#include <cstddef>
#include <filesystem>

#include <fmt/format.h>

#include "base/atomic_file.h"
#include "base/error.h"
#include "preprocess/codecs/png_codec.h"
#include "preprocess/jpeg/jpeg.h"
#include "preprocess/pixels/image.h"
#include "tools/cli/parallel_for.h"
#include "tools/demo/shapes.h"

namespace infeed {
namespace {

struct DemoSplit {
  std::string folder;
  std::int64_t images = 0;
  std::uint32_t epoch = 0;  // makes the splits' random numbers differ
};

void MakeClassFolders(const std::string& folder) {
  for (int demo_class = 0; demo_class < kDemoClasses; ++demo_class) {
    MakeFolder(
        (std::filesystem::path(folder) / DemoClassName(demo_class)).string(),
        "create", 2);
  }
}

void WriteSplit(const DemoSplit& split, const DemoDatasetOptions& options) {
  MakeClassFolders(split.folder);
  ParallelFor(
      static_cast<std::size_t>(split.images), options.threads,
      [&](std::size_t i) {
        const auto demo_class = static_cast<int>(i % kDemoClasses);
        const DemoImageFile image = MakeDemoImage(
            demo_class,
            {.seed = options.seed, .epoch = split.epoch, .position = i});
        // Enough digits that names sort like the numbers.
        WriteFileAtomically(fmt::format("{}/{}/{:04}.{}", split.folder,
                                        DemoClassName(demo_class),
                                        i / kDemoClasses, image.extension),
                            image.bytes, 3);
      });
}

}  // namespace

DemoImageFile MakeDemoImage(int demo_class, const SampleKey& key) {
  SampleRandom random(key, RandomStream::kMadeData);
  RgbImage image;
  DrawDemoImage(demo_class, random, image);
  if (random.Below(32) == 0) {
    return {"png", EncodePng(image.view())};
  }
  const JpegEncodeOptions options = {
      .quality = 70 + static_cast<int>(random.Below(27)),
      .subsample = random.Below(4) != 0,
      .progressive = random.Below(32) == 0};
  return {"jpg", EncodeJpeg(image.view(), options)};
}

void WriteDemoDataset(const std::string& folder,
                      const DemoDatasetOptions& options) {
  Check(options.train_images >= 0 && options.validation_images >= 0,
        "a data set has no negative number of images");
  WriteSplit({folder + "/train", options.train_images, 0}, options);
  WriteSplit({folder + "/validation", options.validation_images, 1}, options);
}

}  // namespace infeed

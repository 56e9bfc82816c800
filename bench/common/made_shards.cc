#include "bench/common/made_shards.h"

#include <stdlib.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <filesystem>
#include <system_error>

#include "base/error.h"
#include "preprocess/jpeg/jpeg.h"
#include "preprocess/pixels/image.h"
#include "records/example/imagenet_example.h"
#include "records/files/shards.h"
#include "records/tfrecord/writer.h"
#include "tools/cli/parallel_for.h"
#include "tools/demo/motifs.h"

namespace infeed {
namespace {

constexpr int kWidth = 500;
constexpr int kHeight = 375;
constexpr int kQuality = 96;
constexpr std::int64_t kShards = 8;
constexpr std::int64_t kClasses = 1000;

// Brightness noise at one scale.
struct Octave {
  float pixels;  // size of a feature
  float levels;  // from darkest to lightest
};
// Shapes, their details, and a sensor's grain, which takes most of the bytes.
constexpr std::array<Octave, 4> kLight = {
    {{160, 170}, {40, 70}, {9, 30}, {1.4F, 26}}};
constexpr Octave kColour = {90, 60};

float Around(const Octave& octave, int x, int y, std::uint32_t key) {
  const Point place = {static_cast<float>(x) / octave.pixels,
                       static_cast<float>(y) / octave.pixels};
  return octave.levels * (SmoothNoise(place, key) - 0.5F);
}

std::uint8_t Level(float value) {
  return static_cast<std::uint8_t>(std::clamp(value, 0.0F, 255.0F));
}

std::string TemporaryFolderName() {
  std::string name =
      (std::filesystem::temp_directory_path() / "infeed-made-XXXXXX").string();
  if (::mkdtemp(name.data()) == nullptr) {
    throw IoError(name, "cannot make the folder", errno);
  }
  return name;
}

void WriteShard(const std::string& folder, std::int64_t shard,
                std::int64_t images) {
  TfrecordWriter writer(folder + "/" + ShardName("train", shard, kShards));
  for (std::int64_t i = shard; i < images; i += kShards) {
    const std::string jpeg = MadePhotograph(i);
    ImagenetExample example;
    example.height = kHeight;
    example.width = kWidth;
    example.label = 1 + i % kClasses;
    example.filename = "made-" + std::to_string(i) + ".jpg";
    example.encoded = jpeg;
    writer.Append(BuildImagenetExample(example));
  }
  writer.Close();
}

}  // namespace

std::string MadePhotograph(std::int64_t number) {
  const auto key = static_cast<std::uint32_t>(16 * number);
  RgbImage image;
  image.Resize(kWidth, kHeight);
  for (int y = 0; y < kHeight; ++y) {
    std::uint8_t* pixel = image.row(y);
    for (int x = 0; x < kWidth; ++x) {
      float light = 128;
      for (std::uint32_t i = 0; i < kLight.size(); ++i) {
        light += Around(kLight[i], x, y, key + i);
      }
      const float red = Around(kColour, x, y, key + 8);
      const float blue = Around(kColour, x, y, key + 9);
      *pixel++ = Level(light + red);
      *pixel++ = Level(light - (red + blue) / 2);
      *pixel++ = Level(light + blue);
    }
  }
  return EncodeJpeg(image.view(), {.quality = kQuality, .subsample = false});
}

MadeShards::MadeShards(std::int64_t images) : folder_(TemporaryFolderName()) {
  try {
    ParallelFor(kShards, 0, [&](std::size_t shard) {
      WriteShard(folder_, static_cast<std::int64_t>(shard), images);
    });
  } catch (...) {
    std::filesystem::remove_all(folder_);
    throw;
  }
}

MadeShards::~MadeShards() {
  std::error_code ignored;
  std::filesystem::remove_all(folder_, ignored);
}

}  // namespace infeed

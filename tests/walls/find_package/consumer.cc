// Writes a shard, reads it through the flow graph and checks the batch.
// usage: consumer FOLDER

#include <cstdint>
#include <iostream>
#include <string>
#include <vector>

#include <infeed/pipeline/engine/input_pipeline.h>
#include <infeed/preprocess/jpeg/jpeg.h>
#include <infeed/preprocess/pixels/image.h>
#include <infeed/records/example/imagenet_example.h>
#include <infeed/records/files/shards.h>
#include <infeed/records/store/record_index.h>
#include <infeed/records/tfrecord/writer.h>

namespace {

constexpr int kImages = 8;
constexpr int kSize = 32;

// A gray image whose brightness tells its label.
std::string GrayJpeg(int level) {
  const std::vector<std::uint8_t> pixels(kSize * kSize * 3,
                                         static_cast<std::uint8_t>(level));
  return infeed::EncodeJpeg({pixels.data(), kSize, kSize, kSize * 3});
}

void WriteShard(const std::string& path) {
  infeed::TfrecordWriter writer(path);
  for (int i = 0; i < kImages; ++i) {
    const std::string jpeg = GrayJpeg(20 * (i + 1));
    writer.Append(infeed::BuildImagenetExample(
        {.height = kSize, .width = kSize, .label = i + 1, .encoded = jpeg}));
  }
  writer.Close();
}

// Whether every pixel of every slot has the level of its label.
bool IsRight(const infeed::Batch& batch) {
  for (int slot = 0; slot < batch.size(); ++slot) {
    const auto level = static_cast<std::uint32_t>(
        20 * (batch.labels()[static_cast<std::size_t>(slot)] + 1));
    const std::uint32_t expected = level << 24 | level << 16 | level << 8;
    for (int i = 0; i < kSize * kSize; ++i) {
      const std::size_t at = static_cast<std::size_t>(slot) * kSize * kSize + i;
      if (batch.pixels()[at] != expected) {
        return false;
      }
    }
  }
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string folder = argc > 1 ? argv[1] : ".";
  WriteShard(folder + "/" + infeed::ShardName("train", 0, 1));
  const infeed::RecordIndex index(infeed::FindSplit(folder, "train"));
  infeed::InputPipeline pipeline(index, {.batch_size = kImages,
                                         .preprocess = {.image_size = kSize},
                                         .training = true});
  const infeed::BatchHandle batch = pipeline.Next();
  if (!batch || batch->size() != kImages || !IsRight(*batch)) {
    std::cerr << "consumer: the batch is not what was written\n";
    return 1;
  }
  std::cout << "consumer: " << batch->size() << " images as written\n";
  return 0;
}

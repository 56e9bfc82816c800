#include "tools/shard_converter.h"

#include <cstdint>
#include <filesystem>
#include <span>
#include <string_view>

#include "base/atomic_file.h"
#include "base/error.h"
#include "records/byte_source.h"
#include "records/crc32c.h"
#include "records/imagenet_example.h"

namespace infeed {
namespace {

constexpr std::int64_t kMaxImageBytes = std::int64_t{1} << 30;

std::string Hex(std::uint32_t value) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string hex;
  for (int shift = 28; shift >= 0; shift -= 4) {
    hex.push_back(kDigits[value >> shift & 0xf]);
  }
  return hex;
}

// Read back from the file, so that it is of what was written indeed.
std::uint32_t FileCrc32c(const std::string& path) {
  const FileSource file(path);
  std::vector<std::byte> buffer(std::size_t{1} << 20);
  std::uint32_t crc = 0;
  std::int64_t offset = 0;
  while (const std::size_t got = file.ReadAt(offset, buffer)) {
    crc = ExtendCrc32c(crc, std::span(buffer).first(got));
    offset += static_cast<std::int64_t>(got);
  }
  return crc;
}

ImagenetExample ExampleOf(const ImageFile& image, const ImageClass& image_class,
                          const EncodedImage& encoded) {
  ImagenetExample example;
  example.height = encoded.height;
  example.width = encoded.width;
  example.label = image.class_index + 1;
  example.synset = image_class.name;
  example.text = image_class.text;
  example.filename = std::filesystem::path(image.path).filename().string();
  example.encoded = encoded.jpeg;
  return example;
}

}  // namespace

ShardConverter::ShardConverter(const ConversionPlan& plan,
                               const std::string& output_dir,
                               const ConverterOptions& options)
    : plan_(plan),
      output_dir_(output_dir),
      options_(options),
      encoder_({.verify = options.verify_images}) {}

std::optional<ShardResult> ShardConverter::Write(
    const ShardTask& task, const std::function<bool()>& on_image) {
  const PlannedSplit& split = plan_.splits[task.split];
  const PlannedShard& shard = split.shards[task.shard];
  const std::string path = output_dir_ + "/" + shard.name;
  ShardResult result;
  result.task = task;
  TfrecordWriter writer(path);
  for (std::int64_t i = shard.first; i < shard.first + shard.count; ++i) {
    Append(split.images[static_cast<std::size_t>(i)], writer, result);
    if (!on_image()) {
      return std::nullopt;
    }
  }
  writer.Close();
  result.info = {shard.name, writer.records(), writer.size(),
                 Hex(FileCrc32c(path))};
  return result;
}

void ShardConverter::Append(const ImageFile& image, TfrecordWriter& writer,
                            ShardResult& result) {
  const std::string file = ReadWholeFile(image.path, kMaxImageBytes);
  const ImageClass& image_class =
      plan_.classes[static_cast<std::size_t>(image.class_index)];
  try {
    const EncodedImage encoded =
        encoder_.Encode(std::as_bytes(std::span(file)));
    writer.Append(BuildImagenetExample(ExampleOf(image, image_class, encoded)));
    result.reencoded += encoded.reencoded ? 1 : 0;
  } catch (const DataError& error) {
    if (options_.on_bad_image == OnBadImage::kFail) {
      throw DataError(
          {.path = image.path},
          error.reason() + " (--on_bad_image skip leaves such images out)");
    }
    result.skipped.push_back({image.path, error.reason()});
  }
}

}  // namespace infeed

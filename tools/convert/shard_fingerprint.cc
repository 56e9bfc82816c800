#include "tools/convert/shard_fingerprint.h"

#include <sys/stat.h>

#include <cerrno>
#include <cstddef>
#include <span>
#include <string_view>

#include <fmt/format.h>

#include "base/error.h"
#include "records/bytes/crc32c.h"
#include "records/cloud/object_store.h"
#include "tools/images/raw_images.h"

namespace infeed {
namespace {

// Change this when the same images and options give different bytes.
constexpr std::string_view kConversion = "infeed conversion 1";

// Two hashes of different kinds over fields with unambiguous boundaries.
class Hash {
 public:
  Hash& Add(std::string_view text) {
    Add(static_cast<std::int64_t>(text.size()));
    AddBytes(std::as_bytes(std::span(text)));
    return *this;
  }
  Hash& Add(std::int64_t value) {
    AddBytes(std::as_bytes(std::span(&value, 1)));
    return *this;
  }

  [[nodiscard]] std::string Hex() const {
    return fmt::format("{:016x}{:08x}", fnv_, crc_);
  }

 private:
  void AddBytes(std::span<const std::byte> bytes) {
    crc_ = ExtendCrc32c(crc_, bytes);
    for (const std::byte byte : bytes) {  // FNV-1a
      fnv_ = (fnv_ ^ std::to_integer<std::uint64_t>(byte)) * 0x100000001b3U;
    }
  }

  std::uint64_t fnv_ = 0xcbf29ce484222325U;
  std::uint32_t crc_ = 0;
};

// Shards without seek indexes have the same bytes as before seek indexes
// existed, and keep their fingerprints.
std::string SeekText(const ConverterOptions& options) {
  const SeekEntries wanted = WantedSeekEntries(options);
  return wanted == SeekEntries::kNone
             ? ""
             : fmt::format(" seek_index={}", SeekEntriesName(wanted));
}

std::string OptionsText(const ConverterOptions& options) {
  const ImageEncoderOptions& image = options.image;
  return fmt::format(
      "{} verify={} format={} max_size={} quality={} image_size={} "
      "keep_png={} exif_orientation={}{}",
      kConversion, image.verify, static_cast<int>(image.format), image.max_size,
      image.quality,
      image.format == RecordFormat::kPixels ? image.image_size : 0,
      image.keep_png, image.exif_rotate ? "all" : "false", SeekText(options));
}

// Returns nanoseconds.
std::int64_t ModificationTime(const std::string& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) {
    throw IoError(path, "stat", errno);
  }
  return std::int64_t{status.st_mtim.tv_sec} * 1'000'000'000 +
         status.st_mtim.tv_nsec;
}

// The version of the file or object that holds an image.
std::int64_t VersionOf(const ImageFile& image, const RawImages* raw) {
  if (image.raw_index >= 0) {
    Check(raw != nullptr, "raw images come with their files");
    return raw->VersionOf(image);
  }
  return image.object != nullptr ? image.object->version()
                                 : ModificationTime(image.path);
}

}  // namespace

ShardFingerprints::ShardFingerprints(const ConversionPlan& plan,
                                     const ConverterOptions& options)
    : plan_(plan), options_(OptionsText(options)) {}

std::string ShardFingerprints::Of(const ShardTask& task) const {
  const PlannedSplit& split = plan_.splits[task.split];
  const PlannedShard& shard = split.shards[task.shard];
  Hash hash;
  hash.Add(options_).Add(shard.name);
  for (std::int64_t i = shard.first; i < shard.first + shard.count; ++i) {
    const ImageFile& image = split.images[static_cast<std::size_t>(i)];
    const ImageClass& image_class =
        plan_.classes[static_cast<std::size_t>(image.class_index)];
    hash.Add(image.path)
        .Add(image.raw_index)
        .Add(image.bytes)
        .Add(VersionOf(image, plan_.raw.get()))
        .Add(image.class_index)
        .Add(image_class.name)
        .Add(image_class.text);
  }
  return hash.Hex();
}

}  // namespace infeed

#include "tools/inspect/image_extractor.h"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <span>
#include <string_view>
#include <system_error>
#include <unordered_set>

#include <fmt/format.h>

#include "base/error.h"
#include "preprocess/codecs/png_codec.h"
#include "records/bytes/base_name.h"
#include "records/example/imagenet_example.h"
#include "records/files/folder_listing.h"
#include "records/files/open_source.h"
#include "records/files/shards.h"
#include "tools/cli/image_format.h"
#include "tools/cli/safe_name.h"
#include "tools/inspect/file_below.h"
#include "tools/inspect/packed_record.h"

namespace infeed {
namespace {

namespace fs = std::filesystem;

std::string ClassFolder(const ImagenetExampleView& example) {
  if (!example.synset.empty()) {
    return SafeName(example.synset);
  }
  return example.label < 0 ? "unlabelled" : std::to_string(example.label);
}

std::string FileName(const ImagenetExampleView& example, bool packed,
                     const std::string& shard_path, const Record& record) {
  const std::string extension(
      packed ? "png" : FileExtension(ImageFormatOf(example.encoded)));
  if (example.filename.empty()) {
    return fmt::format("{}-{:06}.{}", SafeName(FileNameOf(shard_path)),
                       record.number, extension);
  }
  const std::string name = SafeName(example.filename);
  if (!HasImageExtension(name)) {  // X_train.raw#00017
    return extension == "bin" ? name : name + "." + extension;
  }
  return packed ? SplitName(name).stem + "." + extension : name;
}

// "a/b.jpg" -> "a/b-2.jpg".
std::string Numbered(const std::string& path, std::int64_t number) {
  const std::size_t slash = path.rfind('/') + 1;
  const NameParts parts = SplitName(std::string_view(path).substr(slash));
  return fmt::format("{}{}-{}{}", path.substr(0, slash), parts.stem, number,
                     parts.extension);
}

bool HasSize(const std::string& path, std::size_t bytes) {
  std::error_code error;
  const std::uintmax_t size = fs::file_size(path, error);
  return !error && size == bytes;
}

}  // namespace

std::string ImagePath(const std::string& shard_path, const Record& record,
                      bool split) {
  const ImagenetExampleView example = ParseImagenetExample(record.payload);
  const bool packed = example.encoded.empty() && HoldsPixels(record.payload);
  if (example.encoded.empty() && !packed) {
    throw DataError("there is no image in the record");
  }
  std::string path;
  if (split) {
    const std::string name = FileNameOf(shard_path);
    const std::string_view prefix = ShardPrefix(name);
    path = SafeName(prefix.empty() ? "other" : prefix) + "/";
  }
  return path + ClassFolder(example) + "/" +
         FileName(example, packed, shard_path, record);
}

void PathCollector::Visit(std::size_t shard, const Record& record) {
  paths_.emplace_back(RecordPlace{.shard = shard, .record = record.number},
                      ImagePath(shards_[shard], record, split_));
}

std::map<RecordPlace, std::string> ResolveClashes(
    std::vector<PlacedPath> paths) {
  std::sort(paths.begin(), paths.end());
  std::unordered_set<std::string> taken;
  std::vector<const PlacedPath*> clashing;
  for (const PlacedPath& placed : paths) {
    if (!taken.insert(placed.second).second) {
      clashing.push_back(&placed);
    }
  }
  // Renamed after all paths are known: a new path must not equal that of a
  // later record.
  std::map<RecordPlace, std::string> renamed;
  std::map<std::string_view, std::int64_t> last;
  for (const PlacedPath* placed : clashing) {
    std::int64_t& number = last.try_emplace(placed->second, 1).first->second;
    std::string path;
    do {
      path = Numbered(placed->second, ++number);
    } while (!taken.insert(path).second);
    renamed.emplace(placed->first, std::move(path));
  }
  return renamed;
}

void UsedFolders::AddFolderOf(const std::string& path) {
  std::string folder = fs::path(path).parent_path().string();
  const std::lock_guard lock(mutex_);
  folders_.insert(std::move(folder));
}

void ImageWriter::Visit(std::size_t shard, const Record& record) {
  const auto renamed =
      plan_.renamed.find({.shard = shard, .record = record.number});
  const std::string path =
      renamed != plan_.renamed.end()
          ? renamed->second
          : ImagePath(plan_.shards[shard], record, plan_.options.split);
  std::span<const std::byte> bytes =
      ParseImagenetExample(record.payload).encoded;
  std::string png;
  if (bytes.empty()) {
    png = EncodePng(UnpackRecord(record.payload)->view());
    bytes = std::as_bytes(std::span(png));
  }
  plan_.folders.AddFolderOf(path);
  const std::string& output = plan_.options.output;
  if (plan_.options.resume && HasSize(output + "/" + path, bytes.size())) {
    ++plan_.counts.skipped;
    return;
  }
  WriteFileBelow(output, path, bytes);
  ++plan_.counts.written;
  plan_.counts.bytes += static_cast<std::int64_t>(bytes.size());
}

}  // namespace infeed

#include "tools/images/source.h"

#include <cstdint>
#include <set>

#include "base/atomic_file.h"
#include "records/bytes/plain_text.h"
#include "records/cloud/object_source.h"
#include "records/files/open_source.h"
#include "records/http/url.h"
#include "tools/images/record_images.h"

namespace infeed {
namespace {

constexpr std::int64_t kMaxImageBytes = std::int64_t{1} << 30;

}  // namespace

std::unique_ptr<ByteSource> FetchImage(const ImageFile& image) {
  if (image.records != nullptr) {
    image.records->WillRead(image.record);
    return nullptr;
  }
  if (image.object == nullptr) {
    return nullptr;
  }
  auto source = std::make_unique<ObjectSource>(image.path, *image.object);
  source->WillRead(0, source->size());
  return source;
}

std::string ReadImage(const ImageFile& image, const ByteSource* fetched) {
  if (image.records != nullptr) {
    return image.records->Read(image.record);
  }
  if (image.object == nullptr) {
    return ReadWholeFile(image.path, kMaxImageBytes);
  }
  return fetched != nullptr
             ? ReadAll(*fetched, kMaxImageBytes)
             : ReadAll(ObjectSource(image.path, *image.object), kMaxImageBytes);
}

std::vector<std::string> FilesOf(std::span<const ImageFile> images) {
  std::vector<std::string> files;
  std::set<std::string> raw;
  std::set<const RecordImages*> records;
  for (const ImageFile& image : images) {
    if (image.records != nullptr) {
      records.insert(image.records.get());
    } else if (image.raw_index >= 0) {  // "FILE#00017"
      raw.insert(image.path.substr(0, image.path.rfind('#')));
    } else {
      files.push_back(image.path);
    }
  }
  files.insert(files.end(), raw.begin(), raw.end());
  for (const RecordImages* shards : records) {
    files.insert(files.end(), shards->index().shards().begin(),
                 shards->index().shards().end());
  }
  return files;
}

std::string ImageName(const ImageFile& image) {
  if (image.records != nullptr) {
    return std::string(BaseName(image.records->NameIn(image)));
  }
  if (image.raw_index >= 0 || !IsUrl(image.path)) {
    return std::string(BaseName(image.path));
  }
  const Url url = ParseUrl(image.path);
  const std::string name(BaseName(url.path));
  return IsBucketScheme(url.scheme) ? name : PercentDecode(name);
}

std::string ImagePathForMessages(const ImageFile& image) {
  return image.raw_index < 0 && image.records == nullptr
             ? PathForMessages(image.path)
             : image.path;
}

}  // namespace infeed

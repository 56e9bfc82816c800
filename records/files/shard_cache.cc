#include "records/files/shard_cache.h"

#include <unistd.h>

#include <cerrno>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/shown_text.h"
#include "records/bytes/crc32c.h"
#include "records/bytes/fnv_hash.h"
#include "records/cloud/cloud_runtime.h"
#include "records/cloud/cloud_settings.h"
#include "records/cloud/object_source.h"

namespace infeed {
namespace {

constexpr std::size_t kCheckBytes = std::size_t{1} << 20;

// Names a version of an object.
std::string VersionText(const std::string& url, const ObjectInfo& info) {
  return url + "\n" + info.etag + "\n" + info.last_modified;
}

std::string MakeKey(const std::string& url, const ObjectInfo& info) {
  return FnvHashText(VersionText(url, info));
}

}  // namespace

// Reads a local copy, with the object's URL as its path().
class ShardCache::CachedSource final : public ByteSource {
 public:
  CachedSource(const std::string& url, const ObjectInfo& info,
               const std::string& copy, std::shared_ptr<Uses> uses)
      : ByteSource(UrlForMessages(url)), file_(copy), uses_(std::move(uses)) {
    set_size(info.size);
    set_version(info.version());
    const std::lock_guard lock(uses_->mutex);
    ++uses_->counts[copy];
  }
  CachedSource(const CachedSource&) = delete;
  CachedSource& operator=(const CachedSource&) = delete;
  ~CachedSource() override {
    const std::lock_guard lock(uses_->mutex);
    const auto place = uses_->counts.find(file_.path());
    if (--place->second == 0) {
      uses_->counts.erase(place);
    }
  }

  [[nodiscard]] std::size_t ReadAt(
      std::int64_t offset, std::span<std::byte> destination) const override {
    return file_.ReadAt(offset, destination);
  }
  void WillRead(std::int64_t offset, std::int64_t bytes) const override {
    file_.WillRead(offset, bytes);
  }

 private:
  FileSource file_;
  std::shared_ptr<Uses> uses_;
};

std::unique_ptr<ByteSource> ShardCache::Open(const std::string& url) {
  const ObjectInfo info = SharedObjectStore()->Stat(url);
  Place place;
  try {
    place = FindPlace(url, info);
  } catch (const StoppedError&) {
    throw;
  } catch (const IoError& error) {
    Warn(error.what());
  }
  if (place.draft != nullptr) {
    const std::span<std::byte> bytes = place.draft->bytes();
    FetchRange(*SharedCloudRuntime(), url, 0, bytes,
               info);  // Store errors are thrown.
    try {
      place.draft->Commit(
          folder_.PathFor(MakeKey(url, info), info.size, Crc32c(bytes)));
      place.copy = OpenCopy(url, info);
    } catch (const IoError& error) {
      Warn(error.what());
    }
  }
  return place.copy != nullptr ? std::move(place.copy)
                               : std::make_unique<ObjectSource>(url, info);
}

ShardCache::Place ShardCache::FindPlace(const std::string& url,
                                        const ObjectInfo& info) {
  Place place;
  if (info.etag.empty() && info.last_modified.empty()) {
    return place;  // An outdated copy could not be detected.
  }
  folder_.Make();
  place.copy = OpenCopy(url, info);
  if (place.copy == nullptr) {
    place.lock = std::make_unique<FolderLock>(
        folder_.lock_path(),
        FolderLock::ToPlace(FnvHash(VersionText(url, info))),
        cloud_settings().retry.stop);
    // Another process may have made it meanwhile.
    place.copy = OpenCopy(url, info);
  }
  if (place.copy == nullptr) {
    place.draft = folder_.Reserve(MakeKey(url, info), info.size, InUse());
  }
  return place;
}

std::unique_ptr<ByteSource> ShardCache::OpenCopy(const std::string& url,
                                                 const ObjectInfo& info) {
  const std::optional<std::string> path =
      folder_.Find(MakeKey(url, info), info.size);
  if (!path) {
    return nullptr;
  }
  try {
    auto copy = std::make_unique<CachedSource>(url, info, *path, uses_);
    if (IsSound(*copy, *path)) {
      return copy;
    }
    ::unlink(path->c_str());
  } catch (const IoError& error) {
    // ENOENT: another process removed it to make room.
    if (error.errno_value() != ENOENT) {
      throw;
    }
  }
  return nullptr;
}

// Whether a copy has the checksum in its name; computed once for each copy.
bool ShardCache::IsSound(const ByteSource& copy, const std::string& path) {
  {
    const std::lock_guard lock(uses_->mutex);
    if (uses_->checked.contains(path)) {
      return true;
    }
  }
  std::vector<std::byte> buffer(kCheckBytes);
  std::uint32_t crc = 0;
  std::int64_t place = 0;
  while (const std::size_t got = copy.ReadAt(place, buffer)) {
    crc = ExtendCrc32c(crc, std::span(buffer).first(got));
    place += static_cast<std::int64_t>(got);
  }
  if (crc != CacheFolder::ParseCrc(path)) {
    return false;
  }
  const std::lock_guard lock(uses_->mutex);
  uses_->checked.insert(path);
  return true;
}

std::set<std::string> ShardCache::InUse() {
  const std::lock_guard lock(uses_->mutex);
  std::set<std::string> paths;
  for (const auto& [path, count] : uses_->counts) {
    paths.insert(path);
  }
  return paths;
}

void ShardCache::Warn(const std::string& text) {
  const auto tell = cloud_settings().on_warning;
  if (!warned_.exchange(true) && tell) {
    tell("shards are read without the local cache: " + text);
  }
}

std::shared_ptr<ShardCache> SharedShardCache() {
  static std::mutex mutex;
  static std::shared_ptr<ShardCache> cache;
  static std::uint64_t generation = 0;
  static bool made = false;
  const std::lock_guard lock(mutex);
  const std::uint64_t now = cloud_settings_generation();
  if (!made || generation != now) {
    const CloudSettings settings = cloud_settings();
    cache = settings.cache_folder.empty()
                ? nullptr
                : std::make_shared<ShardCache>(settings.cache_folder,
                                               settings.cache_bytes);
    generation = now;
    made = true;
  }
  return cache;
}

}  // namespace infeed

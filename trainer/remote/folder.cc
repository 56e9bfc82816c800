#include "trainer/remote/folder.h"

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <iterator>
#include <span>
#include <utility>

#include "base/atomic_file.h"
#include "base/error.h"
#include "base/rounding.h"
#include "base/shown_text.h"
#include "records/bytes/byte_source.h"
#include "records/cloud/object_sink.h"
#include "records/cloud/object_store.h"
#include "records/http/url.h"

namespace infeed {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kStepBytes = std::size_t{4} << 20;
constexpr std::size_t kSideBySide = 8;  // parts that are downloaded at once

std::string AsFolder(std::string url) {
  if (!url.ends_with('/')) {
    url.push_back('/');
  }
  return url;
}

// Whether a relative name stays inside its folder.
bool IsInside(const fs::path& name) {
  return name.is_relative() && name.has_filename() &&
         std::ranges::none_of(name, [](const fs::path& part) {
           return part.empty() || part == "." || part == "..";
         });
}

// Reads the bytes from offset on into `part`, with several requests at once.
void ReadSideBySide(const CloudRuntime& runtime, const std::string& url,
                    std::int64_t offset, std::span<std::byte> part,
                    const ObjectInfo& info) {
  const std::size_t steps = CeilDiv<std::size_t>(part.size(), kStepBytes);
  runtime.pool->ForEach(steps, [&](std::size_t i) {
    const std::size_t begin = i * kStepBytes;
    runtime.store.Read(
        url, offset + static_cast<std::int64_t>(begin),
        part.subspan(begin, std::min(kStepBytes, part.size() - begin)), info);
  });
}

}  // namespace

void RequireBucketUrl(const std::string& url) {
  if (!IsBucketScheme(ParseUrl(url).scheme)) {
    throw UsageError(UrlForMessages(url) +
                     ": not a folder that can be written (give "
                     "s3://BUCKET/NAME or gs://BUCKET/NAME)");
  }
}

void PullObject(const CloudRuntime& runtime, const std::string& url,
                const std::string& path) {
  const ObjectInfo info = runtime.store.Stat(url);
  MakeFolder(fs::path(path).parent_path().string());
  AtomicFile file(path);
  std::vector<std::byte> buffer(
      std::min(kSideBySide * kStepBytes, static_cast<std::size_t>(info.size)));
  for (std::int64_t offset = 0; offset < info.size;) {
    const auto rest = static_cast<std::size_t>(info.size - offset);
    const std::span<std::byte> part =
        std::span(buffer).first(std::min(buffer.size(), rest));
    ReadSideBySide(runtime, url, offset, part, info);
    file.Write(part);
    offset += static_cast<std::int64_t>(part.size());
  }
  file.Commit();
}

RemoteFolder::RemoteFolder(std::string url,
                           std::shared_ptr<const CloudRuntime> runtime)
    : url_(AsFolder(std::move(url))), runtime_(std::move(runtime)) {
  RequireBucketUrl(url_);
}

std::vector<RemoteFile> RemoteFolder::List(const std::string& below) const {
  std::vector<RemoteFile> files;
  std::vector<std::string> folders = {UrlOf(below)};
  while (!folders.empty()) {
    ObjectListing listing = runtime_->store.List(folders.back());
    folders.pop_back();
    for (const ObjectEntry& object : listing.objects) {
      std::string name = object.url.substr(url_.size());
      if (IsInside(name)) {
        files.push_back({.name = std::move(name), .size = object.size});
      }
    }
    std::ranges::move(listing.folders, std::back_inserter(folders));
  }
  std::ranges::sort(files, {}, &RemoteFile::name);
  return files;
}

std::vector<std::string> RemoteFolder::Folders() const {
  std::vector<std::string> names;
  for (const std::string& folder : runtime_->store.List(url_).folders) {
    names.push_back(
        folder.substr(url_.size(), folder.size() - url_.size() - 1));
  }
  return names;
}

std::optional<std::int64_t> RemoteFolder::FindSize(
    std::string_view name) const {
  const std::optional<ObjectInfo> info = runtime_->store.Find(UrlOf(name));
  return info ? std::optional(info->size) : std::nullopt;
}

std::optional<std::string> RemoteFolder::ReadText(
    std::string_view name, std::int64_t max_bytes) const {
  return ReadSmallObject(runtime_->store, UrlOf(name), max_bytes);
}

void RemoteFolder::Push(const std::string& path, std::string_view name,
                        const std::stop_token& stop) const {
  const FileSource file(path);
  ObjectSink object(UrlOf(name), runtime_);
  std::vector<std::byte> buffer(
      std::min(kStepBytes, static_cast<std::size_t>(file.size())));
  for (std::int64_t offset = 0; offset < file.size();) {
    if (stop.stop_requested()) {
      throw IoError(UrlOf(name) + ": the upload was stopped");
    }
    const auto rest = static_cast<std::size_t>(file.size() - offset);
    const std::span<std::byte> part =
        std::span(buffer).first(std::min(buffer.size(), rest));
    const std::size_t got = file.ReadAt(offset, part);
    if (got == 0) {
      throw IoError(path + ": became shorter during its upload");
    }
    object.Write(part.first(got));
    offset += static_cast<std::int64_t>(got);
  }
  object.Commit();
}

void RemoteFolder::Pull(std::string_view name, const std::string& path) const {
  PullObject(*runtime_, UrlOf(name), path);
}

}  // namespace infeed

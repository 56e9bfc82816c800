#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "records/cloud/cloud_runtime.h"

namespace infeed {

// Throws UsageError unless the URL is of a kind that can have folders.
void RequireBucketUrl(const std::string& url);

struct RemoteFile {
  std::string name;  // relative to the folder: "eval/00000042.json"
  std::int64_t size = 0;
};

// Downloads the object at a URL (s3, gs, http(s)) into a file, completely or
// not at all; creates the file's folder. Throws IoError.
void PullObject(const CloudRuntime& runtime, const std::string& url,
                const std::string& path);

// The files below an s3:// or gs:// URL. Names are relative and have "/"
// between their parts.
//
// Const members may be called from several threads at once. Throws IoError, and
// UsageError for a URL of another kind.
class RemoteFolder {
 public:
  RemoteFolder(std::string url, std::shared_ptr<const CloudRuntime> runtime);

  [[nodiscard]] const std::string& url() const { return url_; }
  [[nodiscard]] std::string UrlOf(std::string_view name) const {
    return url_ + std::string(name);
  }

  // All files whose names begin with `below`, "" or "eval/", at any depth, in
  // the order of their names. Names that could lead out of a folder are left
  // out.
  [[nodiscard]] std::vector<RemoteFile> List(
      const std::string& below = "") const;
  // The names of the direct subfolders, without "/".
  [[nodiscard]] std::vector<std::string> Folders() const;

  [[nodiscard]] bool Has(std::string_view name) const {
    return runtime_->store.Find(UrlOf(name)).has_value();
  }
  // Both return nullopt if there is no such file.
  [[nodiscard]] std::optional<std::int64_t> FindSize(
      std::string_view name) const;
  [[nodiscard]] std::optional<std::string> ReadText(
      std::string_view name, std::int64_t max_bytes) const;

  // Uploads a file with its current size: bytes appended meanwhile are left
  // out. Throws IoError soon after a stop request.
  void Push(const std::string& path, std::string_view name,
            const std::stop_token& stop = {}) const;
  // Downloads a file, completely or not at all; creates its folder.
  void Pull(std::string_view name, const std::string& path) const;
  // No error where there is no such file.
  void Remove(std::string_view name) const {
    runtime_->store.Remove(UrlOf(name));
  }

 private:
  std::string url_;  // ends in "/"
  std::shared_ptr<const CloudRuntime> runtime_;
};

}  // namespace infeed

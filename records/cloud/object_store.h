#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "records/cloud/cloud_settings.h"
#include "records/cloud/store_client.h"

namespace infeed {

// Identifies one version of an object.
struct ObjectInfo {
  std::int64_t size = 0;
  std::string etag{};           // with its quotes; "" if the server sends none
  std::string last_modified{};  // as the server sends it

  // A hash of both, which changes when the object does; kNoVersion if the
  // server sends neither.
  [[nodiscard]] std::int64_t version() const;
};

struct ObjectEntry {
  std::string url{};
  std::int64_t size = 0;
  std::string etag{};  // as in ObjectInfo
};

struct ObjectListing {
  std::vector<ObjectEntry> objects{};
  std::vector<std::string> folders{};  // URLs that end in "/"
};

// Objects of S3 and compatible stores, of GCS and of web servers, by URL.
// Credentials and endpoints are found when a scheme is first used.
//
// Thread-safe. Requests are retried according to CloudSettings::retry. Throws
// IoError (the store refused, the network failed, the object was replaced) and
// UsageError (a bad URL, or credentials that must not be sent).
class ObjectStore {
 public:
  explicit ObjectStore(const CloudSettings& settings) : client_(settings) {}

  [[nodiscard]] ObjectInfo Stat(const std::string& url) const;
  // nullopt when there is no such object.
  [[nodiscard]] std::optional<ObjectInfo> Find(const std::string& url) const;

  // Fills destination with the bytes from offset on. Throws IoError when the
  // object no longer matches info, and soon after stop is requested. Requires:
  // the range lies within info.size.
  void Read(const std::string& url, std::int64_t offset,
            std::span<std::byte> destination, const ObjectInfo& info,
            const std::stop_token& stop = {}) const;

  // The objects (s3, gs) whose URLs start with prefix; objects behind a further
  // "/" are listed as folders only. At most a million objects and folders.
  [[nodiscard]] ObjectListing List(const std::string& prefix) const;

  void Put(const std::string& url, std::span<const std::byte> bytes) const;

  // Uploads in parts (s3, gs): the object appears when the upload is completed.
  [[nodiscard]] std::string StartUpload(const std::string& url) const;
  // Returns the part's ETag. number counts from 1.
  [[nodiscard]] std::string UploadPart(const std::string& url,
                                       const std::string& upload, int number,
                                       std::span<const std::byte> bytes) const;
  void CompleteUpload(const std::string& url, const std::string& upload,
                      const std::vector<std::string>& etags) const;
  void AbortUpload(const std::string& url, const std::string& upload) const;

  // A missing object is not an error.
  void Remove(const std::string& url) const;

 private:
  [[nodiscard]] std::optional<ObjectInfo> Probe(const std::string& url) const;
  [[nodiscard]] std::optional<std::string> EtagNow(
      const std::string& url) const;

  StoreClient client_;
};

// Returns the bytes of a small object; nullopt if it does not exist. Starts no
// threads, unlike ObjectSource. Throws as ObjectStore does, and IoError for an
// object of more than max_bytes.
[[nodiscard]] std::optional<std::string> ReadSmallObject(
    const ObjectStore& store, const std::string& url, std::int64_t max_bytes);

// "bytes FIRST-LAST/SIZE"; nullopt for anything else.
struct ContentRange {
  std::int64_t first = 0;
  std::int64_t last = 0;
  std::int64_t size = 0;
};
[[nodiscard]] std::optional<ContentRange> ParseContentRange(
    std::string_view text);

// kDone if the answer holds exactly `length` bytes from offset on of the object
// that info describes; kRetry if it holds other bytes, which another attempt
// may correct; kFail if the object was replaced or the server does not support
// ranges; nullopt for errors unrelated to ranges.
[[nodiscard]] std::optional<HttpVerdict> JudgeRange(
    const HttpResponse& response, std::int64_t offset, std::int64_t length,
    const ObjectInfo& info);

// Returns the process's store; see SharedCloudRuntime() in cloud_runtime.h.
[[nodiscard]] std::shared_ptr<const ObjectStore> SharedObjectStore();

}  // namespace infeed

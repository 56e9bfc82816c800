#include "records/cloud/object_store.h"

#include <string_view>
#include <utility>

#include "base/error.h"
#include "records/bytes/fnv_hash.h"
#include "records/bytes/whole_number.h"
#include "records/cloud/cloud_runtime.h"
#include "records/cloud/range_answer.h"
#include "records/http/url.h"

namespace infeed {
namespace {

using Kind = HttpVerdict::Kind;
using Verdict = std::optional<HttpVerdict>;

Url ParseReadable(const std::string& text) {
  Url url = ParseUrl(text);
  if (url.path.empty()) {
    throw UsageError(text + ": names a bucket, not an object in it");
  }
  return url;
}

std::int64_t SizeIn(const HttpResponse& response) {
  return ParsePlainNumber<std::int64_t>(response.header("content-length"))
      .value_or(-1);
}

ObjectInfo InfoOf(const HttpResponse& response, std::int64_t size) {
  return {.size = size,
          .etag = response.header("etag"),
          .last_modified = response.header("last-modified")};
}

Verdict JudgeHead(const HttpResponse& response) {
  if (response.status == 404) {
    return HttpVerdict{};
  }
  if (response.status == 200 && SizeIn(response) < 0) {
    return HttpVerdict{Kind::kFail, "the server does not report the size"};
  }
  return std::nullopt;
}

}  // namespace

std::int64_t ObjectInfo::version() const {
  return static_cast<std::int64_t>(FnvHash(
      etag.empty() ? last_modified + "/" + std::to_string(size) : etag));
}

std::optional<ObjectInfo> ObjectStore::Find(const std::string& text) const {
  const Url url = ParseReadable(text);
  bool unsure = false;
  const HttpResponse response =
      client_.Run({.action = "find",
                   .url = url,
                   .http = {.method = "HEAD"},
                   .judge = [&](const HttpResponse& answer) -> Verdict {
                     // Some web servers, and URLs that are signed for GET, have
                     // no HEAD.
                     unsure = !IsBucketScheme(url.scheme) &&
                              (answer.status == 403 || answer.status == 405 ||
                               answer.status == 501);
                     return unsure ? HttpVerdict{} : JudgeHead(answer);
                   }});
  if (unsure) {
    return Probe(text);
  }
  return response.status == 404
             ? std::nullopt
             : std::optional(InfoOf(response, SizeIn(response)));
}

// Requests the first byte to learn the size.
std::optional<ObjectInfo> ObjectStore::Probe(const std::string& text) const {
  const HttpResponse response = client_.Run(
      {.action = "find",
       .url = ParseReadable(text),
       .http = {.headers = {{"Range", "bytes=0-0"}}},
       .judge = [](const HttpResponse& answer) -> Verdict {
         return answer.status == 404 ||
                        ParseContentRange(answer.header("content-range"))
                    ? Verdict(HttpVerdict{})
                    : std::nullopt;
       }});
  const auto range = ParseContentRange(response.header("content-range"));
  if (response.status == 404) {
    return std::nullopt;
  }
  if (!range) {
    throw IoError(
        UrlForMessages(text) +
        ": cannot find: the server supports neither HEAD requests nor ranges");
  }
  return InfoOf(response, range->size);
}

ObjectInfo ObjectStore::Stat(const std::string& url) const {
  std::optional<ObjectInfo> info = Find(url);
  if (!info) {
    throw IoError(UrlForMessages(url) +
                  ": cannot find: there is no such object (check the URL)");
  }
  return *std::move(info);
}

void ObjectStore::Read(const std::string& url, std::int64_t offset,
                       std::span<std::byte> destination, const ObjectInfo& info,
                       const std::stop_token& stop) const {
  const auto length = static_cast<std::int64_t>(destination.size());
  Check(offset >= 0 && offset + length <= info.size,
        "a range lies within its object");
  if (length == 0) {
    return;
  }
  HttpHeaders headers = {{"Range", "bytes=" + std::to_string(offset) + "-" +
                                       std::to_string(offset + length - 1)}};
  if (IsStrongEtag(info.etag)) {
    headers.emplace_back("If-Match", info.etag);
  } else if (!info.last_modified.empty()) {
    headers.emplace_back("If-Unmodified-Since", info.last_modified);
  }
  (void)client_.Run({.action = "read",
                     .url = ParseReadable(url),
                     .http = {.headers = std::move(headers),
                              .destination = destination,
                              .stop = stop},
                     .judge = [&](const HttpResponse& response) {
                       return JudgeRange(response, offset, length, info);
                     }});
}

std::shared_ptr<const ObjectStore> SharedObjectStore() {
  const auto runtime = SharedCloudRuntime();
  return {runtime, &runtime->store};
}

}  // namespace infeed

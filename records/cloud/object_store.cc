#include "records/cloud/object_store.h"

#include <utility>

#include "base/error.h"
#include "base/shown_text.h"
#include "records/bytes/byte_source.h"
#include "records/bytes/fnv_hash.h"
#include "records/bytes/whole_number.h"
#include "records/cloud/cloud_runtime.h"
#include "records/http/url.h"

namespace infeed {
namespace {

using Kind = HttpVerdict::Kind;
using Verdict = std::optional<HttpVerdict>;

constexpr int kOk = 200;
constexpr int kPartialContent = 206;
constexpr int kPreconditionFailed = 412;
constexpr int kRangeNotSatisfiable = 416;

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

ObjectInfo ReadInfo(const HttpResponse& response, std::int64_t size) {
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

HttpVerdict Replaced() {
  return {.kind = Kind::kFail,
          .reason =
              "the object was replaced while it was read, or its servers give "
              "it different ETags or times"};
}

// Removes a number and the text that must follow it from the front.
bool TakeNumber(std::string_view& text, std::string_view after,
                std::int64_t& number) {
  const auto taken = TakePlainNumber<std::int64_t>(text);
  if (!taken || *taken < 0 || !text.starts_with(after)) {
    return false;
  }
  number = *taken;
  text.remove_prefix(after.size());
  return true;
}

std::string RangeText(std::int64_t offset, std::int64_t length) {
  return std::to_string(offset) + "-" + std::to_string(offset + length - 1);
}

HttpVerdict JudgePart(const HttpResponse& response, std::int64_t offset,
                      std::int64_t length, const ObjectInfo& info) {
  const std::string header = response.header("content-range");
  const std::optional<ContentRange> range = ParseContentRange(header);
  if (!range || range->first != offset || range->last != offset + length - 1) {
    return {.kind = Kind::kRetry,
            .reason = "asked for the bytes " + RangeText(offset, length) +
                      ", the answer has '" + header.substr(0, 100) + "'"};
  }
  if (range->size != info.size) {
    return Replaced();
  }
  if (static_cast<std::int64_t>(response.received) != length) {
    return {.kind = Kind::kRetry,
            .reason = "asked for " + std::to_string(length) +
                      " bytes, the answer has " +
                      std::to_string(response.received)};
  }
  return {};
}

HttpVerdict JudgeWhole(const HttpResponse& response, std::int64_t offset,
                       std::int64_t length, const ObjectInfo& info) {
  if (offset != 0 || length != info.size) {
    return {.kind = Kind::kFail,
            .reason =
                "the server sends the whole object instead of the requested "
                "range: it does not support ranges"};
  }
  if (static_cast<std::int64_t>(response.received) != info.size) {
    return {.kind = Kind::kRetry,
            .reason = "the object has " + std::to_string(info.size) +
                      " bytes, the answer " +
                      std::to_string(response.received)};
  }
  return {};
}

// Whether an ETag identifies the exact bytes. A weak one (W/...) does not, and
// cannot be used in If-Match.
bool IsStrongEtag(std::string_view etag) {
  return !etag.empty() && !etag.starts_with("W/");
}

}  // namespace

std::int64_t ObjectInfo::version() const {
  if (etag.empty() && last_modified.empty()) {
    return kNoVersion;
  }
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
             : std::optional(ReadInfo(response, SizeIn(response)));
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
  return ReadInfo(response, range->size);
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
  HttpHeaders headers = {{"Range", "bytes=" + RangeText(offset, length)}};
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

std::optional<std::string> ReadSmallObject(const ObjectStore& store,
                                           const std::string& url,
                                           std::int64_t max_bytes) {
  const std::optional<ObjectInfo> info = store.Find(url);
  if (!info) {
    return std::nullopt;
  }
  if (info->size > max_bytes) {
    throw IoError(UrlForMessages(url) + ": has " + std::to_string(info->size) +
                  " bytes, more than the " + std::to_string(max_bytes) +
                  " allowed");
  }
  std::string bytes(static_cast<std::size_t>(info->size), '\0');
  store.Read(url, 0, std::as_writable_bytes(std::span(bytes)), *info);
  return bytes;
}

std::optional<ContentRange> ParseContentRange(std::string_view text) {
  constexpr std::string_view kUnit = "bytes ";
  ContentRange range;
  if (!text.starts_with(kUnit)) {
    return std::nullopt;
  }
  text.remove_prefix(kUnit.size());
  const bool parsed = TakeNumber(text, "-", range.first) &&
                      TakeNumber(text, "/", range.last) &&
                      TakeNumber(text, "", range.size) && text.empty();
  return parsed && range.first <= range.last && range.last < range.size
             ? std::optional(range)
             : std::nullopt;
}

std::optional<HttpVerdict> JudgeRange(const HttpResponse& response,
                                      std::int64_t offset, std::int64_t length,
                                      const ObjectInfo& info) {
  switch (response.status) {
    case kPreconditionFailed:
    case kRangeNotSatisfiable:
      return Replaced();
    case kOk:
    case kPartialContent:
      break;
    default:
      return std::nullopt;
  }
  // A server may ignore the conditions of a request.
  const auto differs = [&](const char* header, const std::string& known) {
    const std::string now = response.header(header);
    return !now.empty() && !known.empty() && now != known;
  };
  if (differs("etag", info.etag) ||
      (!IsStrongEtag(info.etag) &&
       differs("last-modified", info.last_modified))) {
    return Replaced();
  }
  return response.status == kOk ? JudgeWhole(response, offset, length, info)
                                : JudgePart(response, offset, length, info);
}

std::shared_ptr<const ObjectStore> SharedObjectStore() {
  const auto runtime = SharedCloudRuntime();
  return {runtime, &runtime->store};
}

}  // namespace infeed

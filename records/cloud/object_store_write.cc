#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "base/error.h"
#include "base/shown_text.h"
#include "records/cloud/object_store.h"
#include "records/cloud/store_client.h"
#include "records/http/object_xml.h"
#include "records/http/url.h"

// The functions of ObjectStore that list and change buckets.
namespace infeed {
namespace {

using Kind = HttpVerdict::Kind;
using Verdict = std::optional<HttpVerdict>;

constexpr std::size_t kMaxListed = 1'000'000;
constexpr std::size_t kMaxEmptyPages = 1000;
constexpr std::size_t kMaxShown = 300;

std::string Encoded(std::string_view text) {
  return PercentEncode(text, Slashes::kEncode);
}

// The object may have been removed already.
Verdict JudgeRemoval(const HttpResponse& response) {
  return response.status == 404 ? Verdict(HttpVerdict{}) : std::nullopt;
}

// Gets one page of a listing, starting at a token.
ObjectPage GetPage(const StoreClient& client, const Url& url,
                   const std::string& token) {
  Url bucket = url;
  bucket.path.clear();
  ObjectPage page;
  (void)client.Run(
      {.action = "list",
       .url = bucket,
       .shown = FormatUrl(url),
       .query =
           (token.empty() ? "" : "continuation-token=" + Encoded(token) + "&") +
           "delimiter=%2F&list-type=2&prefix=" + Encoded(url.path),
       .http = {.max_body_bytes = kMaxObjectXmlBytes},
       .judge = [&](const HttpResponse& response) {
         return RetryUnlessParsed(
             response, [&] { page = ParseObjectPage(response.body); });
       }});
  return page;
}

// Adds the entries of a page. Throws IoError for entries outside the prefix.
void AddPage(ObjectPage page, const Url& url, ObjectListing& listing) {
  Url found = url;
  const auto url_of = [&](std::string key) {
    if (!key.starts_with(url.path)) {
      throw IoError(FormatUrl(url) + ": cannot list: the store returned '" +
                    key.substr(0, kMaxShown) + "', which has another prefix");
    }
    found.path = std::move(key);
    return FormatUrl(found);
  };
  for (ListedObject& object : page.objects) {
    listing.objects.push_back({.url = url_of(std::move(object.key)),
                               .size = object.size,
                               .etag = std::move(object.etag)});
  }
  for (std::string& folder : page.common_prefixes) {
    listing.folders.push_back(url_of(std::move(folder)));
  }
}

// A store may send status 200 and report a failure in the body.
Verdict JudgeCompletion(const HttpResponse& response) {
  const auto error = ParseStoreError(response.body);
  if (response.status == 200 && error) {
    return HttpVerdict{Kind::kRetry,
                       "the server failed after status 200 (" + error->code +
                           ": " + error->message.substr(0, kMaxShown) + ")"};
  }
  if (response.status == 404) {
    return HttpVerdict{};
  }
  return RetryUnlessParsed(response,
                           [&] { CheckUploadCompleted(response.body); });
}

}  // namespace

ObjectListing ObjectStore::List(const std::string& prefix) const {
  const Url url = ParseUrl(prefix);
  if (!IsBucketScheme(url.scheme)) {
    throw UsageError(UrlForMessages(prefix) +
                     ": a web server cannot list its files (name each shard, "
                     "separated by commas)");
  }
  ObjectListing listing;
  std::set<std::string> tokens;  // Detects a store that repeats pages.
  std::size_t empty_pages = 0;
  std::string token;
  do {
    ObjectPage page = GetPage(client_, url, token);
    empty_pages += page.objects.empty() && page.common_prefixes.empty();
    token = page.next_token;
    AddPage(std::move(page), url, listing);
    if (!tokens.insert(token).second || empty_pages > kMaxEmptyPages) {
      throw IoError(prefix +
                    ": cannot list: the store repeats pages without end");
    }
    if (listing.objects.size() + listing.folders.size() > kMaxListed) {
      throw IoError(prefix +
                    ": cannot list: there are more than a million objects "
                    "(give a longer prefix)");
    }
  } while (!token.empty());
  return listing;
}

void ObjectStore::Put(const std::string& url,
                      std::span<const std::byte> bytes) const {
  (void)client_.Run({.action = "write",
                     .url = ParseWritableUrl(url),
                     .http = {.method = "PUT", .body = bytes}});
}

std::string ObjectStore::StartUpload(const std::string& url) const {
  std::string upload;
  (void)client_.Run({.action = "start to write",
                     .url = ParseWritableUrl(url),
                     .query = "uploads=",
                     .http = {.method = "POST"},
                     .judge = [&](const HttpResponse& response) {
                       return RetryUnlessParsed(response, [&] {
                         upload = ParseUploadId(response.body);
                       });
                     }});
  return upload;
}

std::string ObjectStore::UploadPart(const std::string& url,
                                    const std::string& upload, int number,
                                    std::span<const std::byte> bytes) const {
  return client_
      .Run({.action = "write",
            .url = ParseWritableUrl(url),
            .query = "partNumber=" + std::to_string(number) +
                     "&uploadId=" + Encoded(upload),
            .http = {.method = "PUT", .body = bytes},
            .judge = [](const HttpResponse& response) -> Verdict {
              if (response.status == 200 && response.header("etag").empty()) {
                return HttpVerdict{Kind::kRetry,
                                   "the answer has no ETag for the part"};
              }
              return std::nullopt;
            }})
      .header("etag");
}

void ObjectStore::CompleteUpload(const std::string& url,
                                 const std::string& upload,
                                 const std::vector<std::string>& etags) const {
  const std::string xml = CompleteUploadXml(etags);
  const std::optional<std::string> before = EtagNow(url);
  const HttpResponse response =
      client_.Run({.action = "finish",
                   .url = ParseWritableUrl(url),
                   .query = "uploadId=" + Encoded(upload),
                   .http = {.method = "POST",
                            .headers = {{"Content-Type", "application/xml"}},
                            .body = std::as_bytes(std::span(xml)),
                            .patient = true},
                   .judge = JudgeCompletion});
  if (response.status != 404) {
    return;
  }
  // The upload no longer exists: an earlier attempt whose answer was lost may
  // have completed it.
  const std::optional<std::string> now = EtagNow(url);
  if (!before || !now || now->empty() || *now == *before) {
    throw IoError(UrlForMessages(url) +
                  ": cannot finish: the store no longer has the upload (write "
                  "the object again)");
  }
}

void ObjectStore::AbortUpload(const std::string& url,
                              const std::string& upload) const {
  (void)client_.Run({.action = "cancel the upload",
                     .url = ParseWritableUrl(url),
                     .query = "uploadId=" + Encoded(upload),
                     .http = {.method = "DELETE"},
                     .judge = JudgeRemoval,
                     .tidies_up = true});
}

void ObjectStore::Remove(const std::string& url) const {
  (void)client_.Run({.action = "remove",
                     .url = ParseWritableUrl(url),
                     .http = {.method = "DELETE"},
                     .judge = JudgeRemoval});
}

// The ETag of the object now: "" if there is no object, nullopt if we may not
// read it.
std::optional<std::string> ObjectStore::EtagNow(const std::string& url) const {
  try {
    const std::optional<ObjectInfo> info = Find(url);
    return info ? info->etag : "";
  } catch (const IoError&) {
    return std::nullopt;  // Permission to write need not include reading.
  }
}

}  // namespace infeed

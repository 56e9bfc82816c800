#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "records/cloud/object_store.h"
#include "records/http/http_client.h"
#include "records/http/http_retry.h"

// Checks a server's answer to a request for a range of an object.
namespace infeed {

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

// Whether an ETag is strong: it identifies the exact bytes. A weak one (W/...)
// does not, and cannot be used in If-Match.
[[nodiscard]] bool IsStrongEtag(std::string_view etag);

}  // namespace infeed

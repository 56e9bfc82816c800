#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "records/cloud/object_store.h"
#include "records/http/http_client.h"
#include "records/http/http_retry.h"

// What an answer to a request for a range of an object is worth.
namespace infeed {

// "bytes FIRST-LAST/SIZE"; nullopt for anything else.
struct ContentRange {
  std::int64_t first = 0;
  std::int64_t last = 0;
  std::int64_t size = 0;
};
[[nodiscard]] std::optional<ContentRange> ParseContentRange(
    std::string_view text);

// kDone when the answer holds exactly length bytes from offset on of the object
// that info describes; kRetry when it holds others, which the server may
// correct; kFail when the object was replaced or the server has no ranges;
// nullopt for refusals that have nothing to do with ranges.
[[nodiscard]] std::optional<HttpVerdict> JudgeRange(
    const HttpResponse& response, std::int64_t offset, std::int64_t length,
    const ObjectInfo& info);

// Whether an ETag stands for these bytes and no others: one that starts with
// W/ does not, and cannot be demanded.
[[nodiscard]] bool IsStrongEtag(std::string_view etag);

}  // namespace infeed

#include "records/cloud/range_answer.h"

#include <string>

#include "records/bytes/whole_number.h"

namespace infeed {
namespace {

using Kind = HttpVerdict::Kind;

constexpr int kOk = 200;
constexpr int kPartialContent = 206;
constexpr int kPreconditionFailed = 412;
constexpr int kRangeNotSatisfiable = 416;

HttpVerdict Replaced() {
  return {.kind = Kind::kFail,
          .reason = "the object was replaced while it was read"};
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

}  // namespace

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

bool IsStrongEtag(std::string_view etag) {
  return !etag.empty() && !etag.starts_with("W/");
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
  const std::string etag = response.header("etag");
  if (!etag.empty() && !info.etag.empty() && etag != info.etag) {
    return Replaced();
  }
  return response.status == kOk ? JudgeWhole(response, offset, length, info)
                                : JudgePart(response, offset, length, info);
}

}  // namespace infeed

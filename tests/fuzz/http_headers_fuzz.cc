#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/error.h"
#include "base/shown_text.h"
#include "records/bytes/plain_text.h"
#include "records/cloud/object_store.h"
#include "records/http/http_transfer.h"
#include "records/http/url.h"

// Any bytes as an answer's headers and body, and as a URL: what is stored
// stays within its limits, and a URL that is taken is the same when it is
// written and read again.
namespace infeed {
namespace {

constexpr std::size_t kMaxHeaderBytes = 256;
constexpr std::size_t kMaxBodyBytes = 64;

// An answer to the range 5-9 of an object of 3000 bytes.
void CheckRange(const HttpResponse& response) {
  const ObjectInfo info{.size = 3000, .etag = "\"abc\""};
  const std::optional<HttpVerdict> verdict = JudgeRange(response, 5, 5, info);
  if (!verdict || verdict->kind != HttpVerdict::Kind::kDone) {
    Check(!verdict || !verdict->reason.empty(), "a verdict has a reason");
    return;
  }
  const auto range = ParseContentRange(response.header("content-range"));
  const std::string etag = response.header("etag");
  Check(response.status == 206 && response.received == 5 && range &&
            range->first == 5 && range->last == 9 && range->size == 3000 &&
            (etag.empty() || etag == info.etag),
        "a range that is taken is the one that was asked for");
}

// Everything up to an empty line is headers; the rest is the body, which comes
// in pieces of a few bytes.
void CheckAnswer(std::string_view bytes, std::span<std::byte> destination) {
  const HttpRequest request{.destination = destination,
                            .max_body_bytes = kMaxBodyBytes};
  HttpTransfer transfer(request, kMaxHeaderBytes);
  bool going = true;
  while (going && !bytes.empty()) {
    const std::size_t end = std::min(bytes.find('\n'), bytes.size() - 1);
    const std::string_view line = bytes.substr(0, end + 1);
    bytes.remove_prefix(line.size());
    if (line == "\n" || line == "\r\n") {
      break;
    }
    going = transfer.TakeHeader(line);
  }
  while (going && !bytes.empty()) {
    const std::string_view piece = bytes.substr(0, 5);
    bytes.remove_prefix(piece.size());
    going = transfer.TakeBody(piece);
  }
  const HttpResponse& response = transfer.response();
  Check(going == transfer.refused().empty(), "a refusal has a reason");
  Check(response.received <= destination.size() &&
            response.body.size() <= kMaxBodyBytes,
        "no more is stored than was allowed");
  Check(response.status >= 0 && response.status <= 999,
        "a status has three digits");
  std::size_t stored = 0;
  for (const auto& [name, value] : response.headers) {
    Check(name == LowerCase(name), "names are in lower case");
    stored += name.size() + value.size();
  }
  Check(stored <= kMaxHeaderBytes, "headers are limited");
  CheckRange(response);
}

void CheckUrl(const std::string& text) {
  const std::string shown = UrlForMessages(text);
  try {
    const Url url = ParseUrl(text);
    Check(ParseUrl(FormatUrl(url)) == url, "a URL can be written and read");
    const bool web =
        url.scheme == UrlScheme::kHttp || url.scheme == UrlScheme::kHttps;
    Check(!web || url.query.empty() || shown.find('?') == std::string::npos,
          "messages do not show a query");
  } catch (const UsageError& error) {
    Check(std::string_view(error.what()).find_first_of("\r\n") ==
              std::string_view::npos,
          "a message is one line");
  }
}

void CheckContentRange(std::string_view text) {
  if (const auto range = ParseContentRange(text)) {
    Check(range->first >= 0 && range->first <= range->last &&
              range->last < range->size,
          "a range lies within its object");
  }
}

void CheckPercent(std::string_view text) {
  for (const Slashes slashes : {Slashes::kEncode, Slashes::kKeep}) {
    Check(PercentDecode(PercentEncode(text, slashes)) == text,
          "what is encoded can be decoded");
  }
  try {
    Check(PercentDecode(text).size() <= text.size(), "decoding makes shorter");
  } catch (const UsageError&) {
  }
}

}  // namespace
}  // namespace infeed

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data,
                                      std::size_t size) {
  const std::string bytes(reinterpret_cast<const char*>(data), size);
  std::array<std::byte, 48> destination{};
  infeed::CheckAnswer(bytes, destination);
  infeed::CheckAnswer(bytes, {});
  infeed::CheckUrl(bytes);
  infeed::CheckContentRange(bytes);
  infeed::CheckPercent(bytes);
  return 0;
}

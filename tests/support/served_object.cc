#include "tests/support/served_object.h"

#include <algorithm>
#include <utility>

namespace infeed {
namespace {

// "FIRST-LAST" of a request; "" when it asks for the whole.
std::string RangeOf(const std::string& request) {
  constexpr std::string_view kField = "Range: bytes=";
  const std::size_t place = request.find(kField);
  return place == std::string::npos
             ? ""
             : request.substr(place + kField.size(), request.find('\r', place) -
                                                         place - kField.size());
}

}  // namespace

LoopbackServer::Handler ServeObject(std::string bytes, std::string etag) {
  return [bytes = std::move(bytes),
          etag = std::move(etag)](const std::string& request) {
    const std::string headers = "ETag: " + etag + "\r\n";
    if (request.starts_with("HEAD")) {
      return LoopbackServer::Reply{
          .bytes = "HTTP/1.1 200 x\r\n" + headers + "Content-Length: " +
                   std::to_string(bytes.size()) + "\r\n\r\n"};
    }
    const std::string range = RangeOf(request);
    if (range.empty()) {
      return LoopbackServer::Reply{.bytes = HttpAnswer(200, bytes, headers)};
    }
    const std::size_t first = std::stoul(range);
    const std::size_t last = std::stoul(range.substr(range.find('-') + 1));
    return LoopbackServer::Reply{
        .bytes = HttpAnswer(206, bytes.substr(first, last - first + 1),
                            headers + "Content-Range: bytes " + range + "/" +
                                std::to_string(bytes.size()) + "\r\n")};
  };
}

std::vector<std::string> RangesAsked(const LoopbackServer& server) {
  std::vector<std::string> ranges;
  for (const std::string& request : server.requests()) {
    if (request.starts_with("GET")) {
      ranges.push_back(RangeOf(request));
    }
  }
  std::sort(ranges.begin(), ranges.end());
  return ranges;
}

}  // namespace infeed

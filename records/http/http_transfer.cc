#include "records/http/http_transfer.h"

#include <algorithm>
#include <cstring>

#include "records/bytes/plain_text.h"
#include "records/bytes/whole_number.h"

namespace infeed {
namespace {

constexpr int kWhole = 200;
constexpr int kPartialContent = 206;
constexpr std::size_t kStatusDigits = 3;

// "HTTP/1.1 404 Not Found" -> 404.
int ParseStatus(std::string_view line) {
  const std::size_t blank = std::min(line.find(' '), line.size());
  std::string_view code = Trimmed(line.substr(blank)).substr(0, kStatusDigits);
  // Unsigned: rejects a sign.
  return static_cast<int>(TakePlainNumber<unsigned>(code).value_or(0));
}

}  // namespace

bool HasHeader(const HttpHeaders& headers, std::string_view lower_case_name) {
  return std::any_of(headers.begin(), headers.end(), [&](const auto& header) {
    return LowerCase(header.first) == lower_case_name;
  });
}

bool HttpTransfer::TakeHeader(std::string_view line) {
  header_bytes_ += line.size();
  if (header_bytes_ > max_header_bytes_) {
    refused_ = "the answer has more than " + std::to_string(max_header_bytes_) +
               " bytes of headers";
    return false;
  }
  if (line.starts_with("HTTP/")) {
    response_ = HttpResponse();
    response_.status = ParseStatus(line);
    return true;
  }
  const std::size_t colon = line.find(':');
  if (colon != std::string_view::npos) {
    response_.headers[LowerCase(Trimmed(line.substr(0, colon)))] =
        Trimmed(line.substr(colon + 1));
  }
  return true;
}

bool HttpTransfer::TakeBody(std::string_view bytes) {
  const bool direct =
      !request_.destination.empty() &&
      (response_.status == kWhole || response_.status == kPartialContent);
  const std::size_t done = direct ? response_.received : response_.body.size();
  const std::size_t limit =
      direct ? request_.destination.size() : request_.max_body_bytes;
  if (bytes.size() > limit - done) {
    refused_ = "the answer has more than the " + std::to_string(limit) +
               (direct ? " bytes asked for" : " bytes allowed");
    if (direct && response_.status == kWhole) {
      refused_ += ": the server must support range requests";
    }
    return false;
  }
  if (direct) {
    std::memcpy(request_.destination.data() + done, bytes.data(), bytes.size());
    response_.received += bytes.size();
  } else {
    response_.body.append(bytes);
  }
  return true;
}

std::size_t HttpTransfer::GiveBody(std::span<char> buffer) {
  const std::span<const std::byte> rest = request_.body.subspan(sent_);
  const std::size_t count = std::min(buffer.size(), rest.size());
  if (count > 0) {
    std::memcpy(buffer.data(), rest.data(), count);
  }
  sent_ += count;
  return count;
}

bool HttpTransfer::Rewind(std::size_t offset) {
  if (offset > request_.body.size()) {
    return false;
  }
  sent_ = offset;
  return true;
}

}  // namespace infeed

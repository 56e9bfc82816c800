#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "records/http/http_client.h"

namespace infeed {

// One request in progress: supplies the request's body and stores the answer's
// bytes as they arrive. Checks the request's limits before storing anything.
//
// The request must outlive it. One thread at a time. Does not fail: a function
// returns false when the transfer must end, and refused() returns the reason.
class HttpTransfer {
 public:
  HttpTransfer(const HttpRequest& request, std::size_t max_header_bytes)
      : request_(request), max_header_bytes_(max_header_bytes) {}

  // Takes one header line, including its line end. A status line starts a new
  // answer: a redirected request has several.
  [[nodiscard]] bool TakeHeader(std::string_view line);
  [[nodiscard]] bool TakeBody(std::string_view bytes);

  // Copies the next bytes of the request's body into buffer and returns their
  // number.
  [[nodiscard]] std::size_t GiveBody(std::span<char> buffer);
  [[nodiscard]] bool Rewind(std::size_t offset);

  [[nodiscard]] const HttpRequest& request() const { return request_; }
  [[nodiscard]] HttpResponse& response() { return response_; }
  [[nodiscard]] const std::string& refused() const { return refused_; }

 private:
  const HttpRequest& request_;
  std::size_t max_header_bytes_;
  HttpResponse response_;
  std::size_t header_bytes_ = 0;
  std::size_t sent_ = 0;
  std::string refused_;
};

// HTTP header names are case-insensitive.
[[nodiscard]] bool HasHeader(const HttpHeaders& headers,
                             std::string_view lower_case_name);

}  // namespace infeed

#pragma once

#include <chrono>
#include <cstddef>
#include <map>
#include <memory>
#include <span>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "records/http/options.h"

namespace infeed {

using HttpHeaders = std::vector<std::pair<std::string, std::string>>;

struct HttpRequest {
  std::string method = "GET";
  std::string url{};  // http(s)
  HttpHeaders headers{};
  // Sent as it is; must stay valid until the answer has arrived.
  std::span<const std::byte> body{};
  // Receives the body of an answer 200 or 206. If it is empty,
  // HttpResponse::body receives the body.
  std::span<std::byte> destination{};
  // Limit of HttpResponse::body; a longer body is a failure.
  std::size_t max_body_bytes = std::size_t{1} << 20;
  // 0: the low-speed limit alone ends a request.
  std::chrono::milliseconds timeout{0};
  // The server may take long to answer: disables the low-speed limit.
  bool patient = false;
  // Ends the request, and any wait between attempts, within about a second.
  std::stop_token stop{};
  // Use a new connection instead of an idle one.
  bool fresh_connection = false;
};

struct HttpResponse {
  // 0 when no complete answer came; failure has the reason.
  int status = 0;
  std::map<std::string, std::string> headers{};  // names in lower case
  std::string body{};
  // Bytes that were put into HttpRequest::destination.
  std::size_t received = 0;
  std::string failure{};
  // Whether another attempt may help.
  bool may_retry = false;

  // Returns "" if the header is absent.
  [[nodiscard]] std::string header(const std::string& name) const;
};

// The file that SSL_CERT_FILE names, otherwise the system's, where
// distributions have it; "" if there is none. libcurl knows one place alone,
// that of the machine it was built for.
[[nodiscard]] std::string CertificateFile();

// Sends HTTP requests over connections that are kept for later requests.
//
// Owns the idle connections. TLS certificates are always verified; only http(s)
// is supported; redirects are followed for GET and HEAD without credentials,
// from https to https alone. Thread-safe. Network errors are returned in
// HttpResponse::failure; throws IoError when the library cannot be set up.
class HttpClient {
 public:
  explicit HttpClient(HttpClientOptions options = {});
  ~HttpClient();
  HttpClient(const HttpClient&) = delete;
  HttpClient& operator=(const HttpClient&) = delete;

  [[nodiscard]] HttpResponse Send(const HttpRequest& request) const;

 private:
  class Pool;
  HttpClientOptions options_;
  std::unique_ptr<Pool> pool_;
};

}  // namespace infeed

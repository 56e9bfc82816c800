#pragma once

#include <chrono>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>

#include "records/http/http_client.h"
#include "records/http/http_retry.h"

namespace infeed {

// The fields needed from a service account's JSON file.
struct ServiceAccount {
  std::string client_email{};
  std::string private_key{};  // PEM
  std::string private_key_id{};
  std::string token_uri{};
};

// Throws UsageError naming the file and the field that is missing or wrong.
[[nodiscard]] ServiceAccount ReadServiceAccount(const std::string& path);

// "HEADER.CLAIMS.SIGNATURE" (RS256), valid for an hour from `now`. Throws
// UsageError when the private key is invalid.
[[nodiscard]] std::string SignedJwt(const ServiceAccount& account,
                                    std::string_view oauth_scope,
                                    std::chrono::system_clock::time_point now);

// Access tokens of a service account, each fetched from token_uri and reused
// until five minutes before it expires.
//
// The client must outlive it. Thread-safe. Throws IoError when the token server
// refuses or cannot be reached, UsageError for an unusable key.
class GoogleTokenSource {
 public:
  using Clock = std::function<std::chrono::system_clock::time_point()>;

  GoogleTokenSource(ServiceAccount account, const HttpClient& client,
                    RetryPolicy retry = {},
                    Clock clock = std::chrono::system_clock::now);

  [[nodiscard]] std::string Token() const;

 private:
  void Renew(std::chrono::system_clock::time_point now) const;

  ServiceAccount account_;
  const HttpClient& client_;
  RetryPolicy retry_;
  Clock clock_;
  mutable std::mutex mutex_;
  mutable std::string token_;
  mutable std::chrono::system_clock::time_point ends_;
};

}  // namespace infeed

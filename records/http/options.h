#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <stop_token>
#include <string>

namespace infeed {

struct HttpClientOptions {
  std::chrono::milliseconds connect_timeout{10'000};
  // The low-speed limit: less than this many bytes a second for this long ends
  // a request.
  std::int64_t low_speed_bytes = 1024;
  std::chrono::seconds low_speed_time{20};
  std::size_t max_header_bytes = std::size_t{64} << 10;
  // A file of certificate authorities; empty: CertificateFile()'s.
  std::string ca_file{};
};

// How a request is repeated after network and server failures.
struct RetryPolicy {
  int attempts = 8;
  // The n-th wait is a random time up to min(max_delay, first_delay * 2^n).
  std::chrono::milliseconds first_delay{200};
  std::chrono::milliseconds max_delay{20'000};
  // Limit of Retry-After: longer values are cut to this.
  std::chrono::milliseconds max_retry_after{30'000};
  // For all attempts together, plus one second for each MiB moved.
  std::chrono::milliseconds deadline{120'000};
  // Ends requests, and the waits between them, within about a second: they
  // throw StoppedError.
  std::stop_token stop{};
};

}  // namespace infeed

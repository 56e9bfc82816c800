#pragma once

#include <chrono>
#include <cstddef>
#include <span>
#include <string>

#include "records/http/http_client.h"

// AWS Signature Version 4: authenticates a request by an HMAC over it. For S3
// and compatible stores, and for GCS with HMAC keys.
namespace infeed {

struct AwsKeys {
  std::string access_key{};
  std::string secret_key{};
  std::string session_token{};  // "" for long-lived keys
};

struct SigV4Scope {
  std::string region{};
  std::string service = "s3";
};

// The signed parts of a request. Path and query are percent-encoded as they are
// sent; S3 signs them without encoding them again.
struct SigV4Request {
  std::string method{};
  std::string path{};          // from its "/" on
  std::string query{};         // without the "?"
  HttpHeaders headers{};       // including "host"
  std::string payload_hash{};  // SHA-256 of the body, in hex
};

using SigV4Time = std::chrono::system_clock::time_point;

// "YYYYMMDDTHHMMSSZ".
[[nodiscard]] std::string FormatSigV4Time(SigV4Time time);

// The steps of the algorithm; AWS publishes examples for each.
[[nodiscard]] std::string CanonicalSigV4Request(const SigV4Request& request);
// The value of the Authorization header.
[[nodiscard]] std::string SigV4Authorization(const SigV4Request& request,
                                             const AwsKeys& keys,
                                             const SigV4Scope& scope,
                                             SigV4Time time);

// Returns the request's headers with x-amz-date, x-amz-content-sha256, the
// session token and Authorization added.
[[nodiscard]] HttpHeaders SignedHeaders(SigV4Request request,
                                        const AwsKeys& keys,
                                        const SigV4Scope& scope,
                                        SigV4Time time);

// The SHA-256 hash in hex.
[[nodiscard]] std::string Sha256Hex(std::span<const std::byte> bytes);

}  // namespace infeed

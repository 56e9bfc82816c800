#pragma once

#include <chrono>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "records/http/http_client.h"

// AWS Signature Version 4: who sends a request, proven by an HMAC over it.
// Understood by S3, what speaks its protocol, and GCS with HMAC keys.
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

// What is signed. The path and the query are percent-encoded as they are sent;
// S3 signs them so, without encoding again.
struct SigV4Request {
  std::string method{};
  std::string path{};          // from its "/" on
  std::string query{};         // without the "?"
  HttpHeaders headers{};       // "host" among them
  std::string payload_hash{};  // SHA-256 of the body, in hex
};

using SigV4Time = std::chrono::system_clock::time_point;

// "YYYYMMDDTHHMMSSZ".
[[nodiscard]] std::string FormatSigV4Time(SigV4Time time);

// The steps, each published with its own examples.
[[nodiscard]] std::string CanonicalSigV4Request(const SigV4Request& request);
[[nodiscard]] std::string SigV4StringToSign(const SigV4Request& request,
                                            const SigV4Scope& scope,
                                            SigV4Time time);
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

// In hex.
[[nodiscard]] std::string Sha256Hex(std::span<const std::byte> bytes);

}  // namespace infeed

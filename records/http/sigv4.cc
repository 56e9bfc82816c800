#include "records/http/sigv4.h"

#include <algorithm>
#include <array>
#include <ctime>
#include <map>
#include <utility>
#include <vector>

#include <openssl/evp.h>
#include <openssl/hmac.h>

#include "base/error.h"
#include "records/bytes/plain_text.h"
#include "records/bytes/sha256.h"
#include "records/http/http_transfer.h"
#include "records/http/url.h"

namespace infeed {
namespace {

constexpr std::string_view kAlgorithm = "AWS4-HMAC-SHA256";
constexpr std::string_view kTerminator = "aws4_request";
constexpr std::size_t kDateDigits = 8;

using Digest = Sha256::Digest;

Digest Hmac(std::span<const unsigned char> key, std::string_view text) {
  Digest digest{};
  unsigned int size = 0;
  const void* done =
      HMAC(EVP_sha256(), key.data(), static_cast<int>(key.size()),
           reinterpret_cast<const unsigned char*>(text.data()), text.size(),
           digest.data(), &size);
  Check(done != nullptr && size == digest.size(), "OpenSSL has HMAC-SHA256");
  return digest;
}

// The key is valid only for the date, region and service.
Digest SigningKey(const AwsKeys& keys, const SigV4Scope& scope,
                  std::string_view date) {
  const std::string secret = "AWS4" + keys.secret_key;
  Digest key = Hmac(
      {reinterpret_cast<const unsigned char*>(secret.data()), secret.size()},
      date);
  key = Hmac(key, scope.region);
  key = Hmac(key, scope.service);
  return Hmac(key, kTerminator);
}

std::string ScopeText(const SigV4Scope& scope, const std::string& time) {
  return time.substr(0, kDateDigits) + "/" + scope.region + "/" +
         scope.service + "/" + std::string(kTerminator);
}

// Removes blanks at both ends and reduces runs of blanks to one.
std::string Squeezed(std::string_view value) {
  std::string squeezed;
  bool blank = false;
  for (const char c : value) {
    if (c == ' ' || c == '\t') {
      blank = !squeezed.empty();
      continue;
    }
    if (blank) {
      squeezed.push_back(' ');
      blank = false;
    }
    squeezed.push_back(c);
  }
  return squeezed;
}

// Headers with names in lower case, sorted; values of repeated names are
// joined.
std::map<std::string, std::string> CanonicalHeaders(
    const HttpHeaders& headers) {
  std::map<std::string, std::string> canonical;
  for (const auto& [name, value] : headers) {
    const auto [place, is_new] =
        canonical.emplace(LowerCase(name), Squeezed(value));
    if (!is_new) {
      place->second.append(",").append(Squeezed(value));
    }
  }
  return canonical;
}

std::string SignedNames(const std::map<std::string, std::string>& headers) {
  std::string names;
  for (const auto& [name, value] : headers) {
    names.append(names.empty() ? "" : ";").append(name);
  }
  return names;
}

// The query with each name and value encoded again, so that the signature does
// not depend on the original encoding, and sorted; "name" alone becomes
// "name=".
std::string CanonicalQuery(std::string_view query) {
  std::vector<std::pair<std::string, std::string>> parameters;
  while (!query.empty()) {
    const std::string_view part = query.substr(0, query.find('&'));
    query.remove_prefix(std::min(part.size() + 1, query.size()));
    const std::size_t equals = std::min(part.find('='), part.size());
    const auto again = [](std::string_view text) {
      return PercentEncode(PercentDecode(text), Slashes::kEncode);
    };
    parameters.emplace_back(
        again(part.substr(0, equals)),
        again(part.substr(std::min(equals + 1, part.size()))));
  }
  std::sort(parameters.begin(), parameters.end());
  std::string text;
  for (const auto& [name, value] : parameters) {
    text.append(text.empty() ? "" : "&").append(name).append("=").append(value);
  }
  return text;
}

}  // namespace

std::string Sha256Hex(std::span<const std::byte> bytes) {
  Sha256 hash;
  hash.Add(bytes);
  return Hex(hash.Finish());
}

std::string FormatSigV4Time(SigV4Time time) {
  const std::time_t seconds = std::chrono::system_clock::to_time_t(time);
  std::tm utc{};
  ::gmtime_r(&seconds, &utc);
  std::array<char, 32> text{};
  std::strftime(text.data(), text.size(), "%Y%m%dT%H%M%SZ", &utc);
  return text.data();
}

std::string CanonicalSigV4Request(const SigV4Request& request) {
  const auto headers = CanonicalHeaders(request.headers);
  std::string text = request.method + "\n" + request.path + "\n" +
                     CanonicalQuery(request.query) + "\n";
  for (const auto& [name, value] : headers) {
    text.append(name).append(":").append(value).append("\n");
  }
  return text.append("\n")
      .append(SignedNames(headers))
      .append("\n")
      .append(request.payload_hash);
}

std::string SigV4Authorization(const SigV4Request& request, const AwsKeys& keys,
                               const SigV4Scope& scope, SigV4Time time) {
  const std::string stamp = FormatSigV4Time(time);
  const std::string canonical = CanonicalSigV4Request(request);
  const std::string to_sign = std::string(kAlgorithm) + "\n" + stamp + "\n" +
                              ScopeText(scope, stamp) + "\n" +
                              Sha256Hex(std::as_bytes(std::span(canonical)));
  const Digest signature =
      Hmac(SigningKey(keys, scope, stamp.substr(0, kDateDigits)), to_sign);
  return std::string(kAlgorithm) + " Credential=" + keys.access_key + "/" +
         ScopeText(scope, stamp) +
         ", SignedHeaders=" + SignedNames(CanonicalHeaders(request.headers)) +
         ", Signature=" + Hex(signature);
}

HttpHeaders SignedHeaders(SigV4Request request, const AwsKeys& keys,
                          const SigV4Scope& scope, SigV4Time time) {
  request.headers.emplace_back("x-amz-date", FormatSigV4Time(time));
  request.headers.emplace_back("x-amz-content-sha256", request.payload_hash);
  if (!keys.session_token.empty()) {
    request.headers.emplace_back("x-amz-security-token", keys.session_token);
  }
  std::string authorization = SigV4Authorization(request, keys, scope, time);
  request.headers.emplace_back("Authorization", std::move(authorization));
  return std::move(request.headers);
}

}  // namespace infeed

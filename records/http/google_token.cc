#include "records/http/google_token.h"

#include <algorithm>
#include <cstddef>
#include <memory>
#include <span>
#include <utility>

#include <nlohmann/json.hpp>
#include <openssl/evp.h>
#include <openssl/pem.h>

#include "base/atomic_file.h"
#include "base/error.h"
#include "base/rounding.h"
#include "records/bytes/json.h"
#include "records/http/secrets_guard.h"
#include "records/http/url.h"

namespace infeed {
namespace {

using Json = nlohmann::json;
using Time = std::chrono::system_clock::time_point;

constexpr std::int64_t kMaxFileBytes = std::int64_t{1} << 20;
constexpr std::chrono::minutes kRenewBefore(5);
constexpr std::chrono::hours kJwtLife(1);
// Longer lifetimes from the server are cut to this.
constexpr std::chrono::seconds kMostLife = std::chrono::hours(24);
constexpr std::string_view kScope =
    "https://www.googleapis.com/auth/devstorage.read_write";
constexpr std::string_view kGrant =
    "urn:ietf:params:oauth:grant-type:jwt-bearer";

template <auto Free>
struct Freer {
  template <typename T>
  void operator()(T* pointer) const {
    Free(pointer);
  }
};
using Bio = std::unique_ptr<BIO, Freer<BIO_free_all>>;
using Key = std::unique_ptr<EVP_PKEY, Freer<EVP_PKEY_free>>;
using Signer = std::unique_ptr<EVP_MD_CTX, Freer<EVP_MD_CTX_free>>;

// Without padding.
std::string Base64Url(std::string_view bytes) {
  std::string text(4 * CeilDiv<std::size_t>(bytes.size(), 3), '\0');
  EVP_EncodeBlock(reinterpret_cast<unsigned char*>(text.data()),
                  reinterpret_cast<const unsigned char*>(bytes.data()),
                  static_cast<int>(bytes.size()));
  std::ranges::replace(text, '+', '-');
  std::ranges::replace(text, '/', '_');
  return text.substr(0, text.find('='));
}

Key ParseKey(const ServiceAccount& account) {
  const Bio bio(BIO_new_mem_buf(account.private_key.data(),
                                static_cast<int>(account.private_key.size())));
  // Without a password callback OpenSSL would prompt at the terminal.
  Key key(PEM_read_bio_PrivateKey(
      bio.get(), nullptr, [](char*, int, int, void*) { return -1; }, nullptr));
  if (key == nullptr || EVP_PKEY_get_base_id(key.get()) != EVP_PKEY_RSA) {
    throw UsageError(
        "the private_key of the service account " + account.client_email +
        " is not an RSA key in PEM form without a password (create "
        "a new key)");
  }
  return key;
}

std::string Sign(const ServiceAccount& account, const std::string& text) {
  const Key key = ParseKey(account);
  const Signer signer(EVP_MD_CTX_new());
  std::string signature(static_cast<std::size_t>(EVP_PKEY_get_size(key.get())),
                        '\0');
  std::size_t size = signature.size();
  const bool done =
      EVP_DigestSignInit(signer.get(), nullptr, EVP_sha256(), nullptr,
                         key.get()) == 1 &&
      EVP_DigestSign(signer.get(),
                     reinterpret_cast<unsigned char*>(signature.data()), &size,
                     reinterpret_cast<const unsigned char*>(text.data()),
                     text.size()) == 1;
  if (!done) {
    throw UsageError("the private_key of the service account " +
                     account.client_email + " cannot sign");
  }
  signature.resize(size);
  return Base64Url(signature);
}

std::string ReadField(const Json& json, const char* name,
                      const std::string& path) {
  const auto field = json.find(name);
  if (field == json.end() || !field->is_string() ||
      field->get_ref<const std::string&>().empty()) {
    throw UsageError(path + ": the service account's file has no '" +
                     std::string(name) + "'");
  }
  return field->get<std::string>();
}

// A string in the token server's answer; "" if absent.
std::string ReadText(const Json& json, const char* name) {
  const auto field = json.is_object() ? json.find(name) : json.end();
  return json.is_object() && field != json.end() && field->is_string()
             ? field->get<std::string>()
             : "";
}

struct GrantedToken {
  std::string token;
  std::chrono::seconds life{0};
};

std::optional<GrantedToken> ParseToken(const std::string& body) {
  const Json json = ParseJsonOrDiscard<Json>(body);
  const std::string token = ReadText(json, "access_token");
  if (token.empty() || !json.contains("expires_in") ||
      !json["expires_in"].is_number_integer()) {
    return std::nullopt;
  }
  return GrantedToken{
      .token = token,
      .life = std::chrono::seconds(json["expires_in"].get<std::int64_t>())};
}

// Reports the server's error message, never its whole answer.
std::optional<HttpVerdict> JudgeToken(const HttpResponse& response) {
  if (response.status == 200) {
    return ParseToken(response.body)
               ? HttpVerdict{}
               : HttpVerdict{HttpVerdict::Kind::kRetry,
                             "the answer holds no access_token"};
  }
  const Json json = ParseJsonOrDiscard<Json>(response.body);
  const std::string error = ReadText(json, "error");
  if (response.status >= 400 && response.status < 500 && !error.empty()) {
    return HttpVerdict{HttpVerdict::Kind::kFail,
                       "the server answered " +
                           std::to_string(response.status) + " (" + error +
                           ": " + ReadText(json, "error_description") + ")"};
  }
  return std::nullopt;
}

std::int64_t UnixSeconds(Time time) {
  return std::chrono::floor<std::chrono::seconds>(time)
      .time_since_epoch()
      .count();
}

}  // namespace

ServiceAccount ReadServiceAccount(const std::string& path) {
  const Json json =
      ParseJsonOrDiscard<Json>(ReadFileOrPipe(path, kMaxFileBytes));
  if (!json.is_object()) {
    throw UsageError(path + ": is not the JSON file of a service account");
  }
  if (const std::string type = ReadField(json, "type", path);
      type != "service_account") {
    throw UsageError(path + ": has credentials of the type '" + type +
                     "', only 'service_account' is known (or set "
                     "GOOGLE_OAUTH_ACCESS_TOKEN to what `gcloud auth "
                     "print-access-token` prints)");
  }
  return {.client_email = ReadField(json, "client_email", path),
          .private_key = ReadField(json, "private_key", path),
          .private_key_id = ReadText(json, "private_key_id"),
          .token_uri = ReadField(json, "token_uri", path)};
}

std::string SignedJwt(const ServiceAccount& account,
                      std::string_view oauth_scope, Time now) {
  Json header = {{"alg", "RS256"}, {"typ", "JWT"}};
  if (!account.private_key_id.empty()) {
    header["kid"] = account.private_key_id;
  }
  const Json claims = {{"iss", account.client_email},
                       {"scope", oauth_scope},
                       {"aud", account.token_uri},
                       {"iat", UnixSeconds(now)},
                       {"exp", UnixSeconds(now + kJwtLife)}};
  const std::string text =
      Base64Url(header.dump()) + "." + Base64Url(claims.dump());
  return text + "." + Sign(account, text);
}

GoogleTokenSource::GoogleTokenSource(ServiceAccount account,
                                     const HttpClient& client,
                                     RetryPolicy retry, Clock clock)
    : account_(std::move(account)),
      client_(client),
      retry_(retry),
      clock_(std::move(clock)) {
  CheckMaySendSecrets(account_.token_uri);
}

std::string GoogleTokenSource::Token() const {
  const std::lock_guard lock(mutex_);
  const Time now = clock_();
  if (token_.empty() || now >= ends_ - kRenewBefore) {
    Renew(now);
  }
  return token_;
}

void GoogleTokenSource::Renew(Time now) const {
  const std::string body =
      "grant_type=" + PercentEncode(kGrant, Slashes::kEncode) +
      "&assertion=" + SignedJwt(account_, kScope, now);
  const HttpResponse response = SendWithRetries(
      client_,
      {.action = "get an access token",
       .url = account_.token_uri,
       .make =
           [&] {
             return HttpRequest{
                 .method = "POST",
                 .url = account_.token_uri,
                 .headers = {{"Content-Type",
                              "application/x-www-form-urlencoded"}},
                 .body = std::as_bytes(std::span(body))};
           },
       .judge = JudgeToken},
      retry_);
  GrantedToken granted = *ParseToken(response.body);
  token_ = std::move(granted.token);
  ends_ = now + std::clamp(granted.life, std::chrono::seconds(0), kMostLife);
}

}  // namespace infeed

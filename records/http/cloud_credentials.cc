#include "records/http/cloud_credentials.h"

#include <filesystem>
#include <map>
#include <memory>
#include <string_view>
#include <system_error>
#include <utility>

#include "base/atomic_file.h"
#include "base/error.h"
#include "base/shown_text.h"
#include "records/bytes/plain_text.h"
#include "records/http/google_token.h"
#include "records/http/http_transfer.h"
#include "records/http/secrets_guard.h"

namespace infeed {
namespace {

using Profile = std::map<std::string, std::string>;

constexpr std::string_view kDefaultRegion = "us-east-1";
constexpr const char* kGoogle = "https://storage.googleapis.com";
constexpr std::int64_t kMaxProfileBytes = std::int64_t{1} << 20;

[[noreturn]] void RefuseLine(const std::string& path, int line) {
  throw UsageError(path + ": line " + std::to_string(line) +
                   " is neither '[section]' nor 'name = value'");
}

// Returns the "name = value" lines of one [section] of an AWS configuration
// file; nullopt when the file or section does not exist. Throws IoError for a
// file that cannot be read, and UsageError, naming file and line, for one with
// another format; messages never contain a value.
std::optional<Profile> ReadAwsProfile(const std::string& path,
                                      const std::string& section) {
  std::error_code ignored;
  if (!std::filesystem::exists(path, ignored)) {
    return std::nullopt;
  }
  const std::string file = ReadFileOrPipe(path, kMaxProfileBytes);
  std::string_view rest = WithoutMark(file);
  std::optional<Profile> profile;
  bool inside = false;
  for (int number = 1; !rest.empty(); ++number) {
    const std::string_view whole = TakeLine(rest);
    const std::string_view line = Trimmed(whole);
    // An indented line belongs to a nested value, which we do not use.
    if (line.empty() || line[0] == '#' || line[0] == ';' || whole[0] == ' ' ||
        whole[0] == '\t') {
      continue;
    }
    if (line.front() == '[') {
      if (line.back() != ']') {
        RefuseLine(path, number);
      }
      inside = Trimmed(line.substr(1, line.size() - 2)) == section;
      if (inside && !profile) {
        profile.emplace();
      }
      continue;
    }
    const std::size_t equals = line.find('=');
    if (equals == std::string_view::npos) {
      RefuseLine(path, number);
    }
    if (inside) {
      (*profile)[std::string(Trimmed(line.substr(0, equals)))] =
          Trimmed(line.substr(equals + 1));
    }
  }
  return profile;
}

// The first of these variables that is set; "" when none is.
std::string ReadFirstSet(std::initializer_list<const char*> names) {
  for (const char* name : names) {
    if (std::string value = EnvironmentValue(name); !value.empty()) {
      return value;
    }
  }
  return "";
}

// Reads an access key and its secret from two variables. Both or none must be
// set.
std::optional<AwsKeys> KeysIn(const char* access_name,
                              const char* secret_name) {
  AwsKeys keys = {.access_key = EnvironmentValue(access_name),
                  .secret_key = EnvironmentValue(secret_name)};
  if (keys.access_key.empty() && keys.secret_key.empty()) {
    return std::nullopt;
  }
  if (keys.access_key.empty() || keys.secret_key.empty()) {
    throw UsageError(
        std::string(keys.access_key.empty() ? secret_name : access_name) +
        " is set without " +
        (keys.access_key.empty() ? access_name : secret_name));
  }
  return keys;
}

// ~/.aws/NAME, or the file that a variable names.
std::string AwsFile(const char* variable, const char* name) {
  const std::string given = EnvironmentValue(variable);
  const std::string home = EnvironmentValue("HOME");
  return !given.empty() || home.empty() ? given : home + "/.aws/" + name;
}

std::string ProfileName() {
  const std::string name = EnvironmentValue("AWS_PROFILE");
  return name.empty() ? "default" : name;
}

std::string ValueIn(const std::optional<Profile>& profile, const char* name) {
  if (!profile) {
    return "";
  }
  const auto found = profile->find(name);
  return found == profile->end() ? "" : found->second;
}

std::optional<AwsKeys> AwsProfileKeys() {
  const std::string path =
      AwsFile("AWS_SHARED_CREDENTIALS_FILE", "credentials");
  const std::optional<Profile> profile = ReadAwsProfile(path, ProfileName());
  const AwsKeys keys = {.access_key = ValueIn(profile, "aws_access_key_id"),
                        .secret_key = ValueIn(profile, "aws_secret_access_key"),
                        .session_token = ValueIn(profile, "aws_session_token")};
  const bool wanted = !EnvironmentValue("AWS_PROFILE").empty();
  if (keys.access_key.empty() != keys.secret_key.empty() ||
      (wanted && keys.access_key.empty())) {
    throw UsageError("AWS_PROFILE: " + (path.empty() ? "no file" : path) +
                     " holds no aws_access_key_id and aws_secret_access_key "
                     "for the profile '" +
                     ProfileName() + "'");
  }
  return keys.access_key.empty() ? std::nullopt : std::optional(keys);
}

std::optional<AwsKeys> AwsCredentials() {
  std::optional<AwsKeys> keys =
      KeysIn("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY");
  if (!keys) {
    return AwsProfileKeys();
  }
  keys->session_token = EnvironmentValue("AWS_SESSION_TOKEN");
  return keys;
}

std::string AwsRegion() {
  std::string region = ReadFirstSet({"AWS_REGION", "AWS_DEFAULT_REGION"});
  if (region.empty()) {
    const std::string name = ProfileName();
    region =
        ValueIn(ReadAwsProfile(AwsFile("AWS_CONFIG_FILE", "config"),
                               name == "default" ? name : "profile " + name),
                "region");
  }
  if (region.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-") !=
      std::string::npos) {
    throw UsageError("'" + region + "': not an AWS region");
  }
  return region.empty() ? std::string(kDefaultRegion) : region;
}

// "http(s)://HOST[:PORT]" without a path; a bare host is http, as emulators
// are told.
std::string Endpoint(std::string text) {
  if (text.find("://") == std::string::npos) {
    text = "http://" + text;
  }
  const Url url = ParseUrl(text);
  if (IsBucketScheme(url.scheme) || url.path != "/" || !url.query.empty()) {
    throw UsageError(UrlForMessages(text) +
                     ": give http(s)://HOST[:PORT], without a path");
  }
  std::string endpoint = FormatUrl(url);
  endpoint.pop_back();
  return endpoint;
}

CloudAccess AwsAccess() {
  CloudAccess access = {.keys = AwsCredentials(),
                        .scope = {.region = AwsRegion()}};
  const std::string given =
      ReadFirstSet({"AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL"});
  access.path_style = !given.empty();
  const bool china = access.scope.region.starts_with("cn-");
  access.endpoint = given.empty()
                        ? "https://s3." + access.scope.region +
                              (china ? ".amazonaws.com.cn" : ".amazonaws.com")
                        : Endpoint(given);
  return access;
}

// Returns the same token each time; nothing for "".
std::function<std::string()> Fixed(std::string token) {
  if (token.empty()) {
    return {};
  }
  return [token = std::move(token)] { return token; };
}

std::function<std::string()> GoogleToken(const HttpClient& client,
                                         const RetryPolicy& retry) {
  std::string token =
      ReadFirstSet({"GOOGLE_OAUTH_ACCESS_TOKEN", "CLOUDSDK_AUTH_ACCESS_TOKEN"});
  const std::string file = EnvironmentValue("GOOGLE_APPLICATION_CREDENTIALS");
  if (!token.empty() || file.empty()) {
    return Fixed(std::move(token));
  }
  return [source = std::make_shared<GoogleTokenSource>(ReadServiceAccount(file),
                                                       client, retry)] {
    return source->Token();
  };
}

CloudAccess GoogleAccess(const HttpClient& client, const RetryPolicy& retry) {
  const std::string given =
      ReadFirstSet({"GS_ENDPOINT_URL", "STORAGE_EMULATOR_HOST"});
  CloudAccess access = {
      .keys = KeysIn("GS_ACCESS_KEY_ID", "GS_SECRET_ACCESS_KEY"),
      .scope = {.region = "auto"}};
  if (!access.keys) {
    access.token = GoogleToken(client, retry);
  }
  access.endpoint = given.empty() ? kGoogle : Endpoint(given);
  return access;
}

// Google's front ends change Accept-Encoding in transit, so it is sent but not
// signed.
HttpHeaders Signed(const CloudAccess& access, const AwsKeys& keys,
                   const HttpRequest& request, SigV4Time now) {
  const Url url = ParseUrl(request.url);
  SigV4Request to_sign = {.method = request.method,
                          .path = url.path,
                          .query = url.query,
                          .headers = {{"Host", url.host}},
                          .payload_hash = Sha256Hex(request.body)};
  HttpHeaders unsigned_headers;
  for (const auto& header : request.headers) {
    (LowerCase(header.first) == "accept-encoding" ? unsigned_headers
                                                  : to_sign.headers)
        .push_back(header);
  }
  HttpHeaders headers =
      SignedHeaders(std::move(to_sign), keys, access.scope, now);
  headers.insert(headers.begin(), unsigned_headers.begin(),
                 unsigned_headers.end());
  return headers;
}

}  // namespace

CloudAccess FindCloudAccess(UrlScheme scheme, const HttpClient& client,
                            const RetryPolicy& retry) {
  switch (scheme) {
    case UrlScheme::kS3:
      return AwsAccess();
    case UrlScheme::kGs:
      return GoogleAccess(client, retry);
    case UrlScheme::kHttp:
    case UrlScheme::kHttps:
      break;
  }
  return {.token = Fixed(EnvironmentValue("INFEED_HTTP_BEARER_TOKEN"))};
}

std::string RequestUrl(const CloudAccess& access, const Url& url,
                       const std::string& query) {
  if (access.endpoint.empty()) {
    return FormatUrl(url);
  }
  std::string text = access.endpoint;
  // A certificate for *.ENDPOINT does not hold for a name with more dots.
  const bool bucket_in_path =
      access.path_style || url.host.find('.') != std::string::npos;
  if (bucket_in_path) {
    text.append("/").append(url.host);
  } else {
    text.insert(text.find("://") + 3, url.host + ".");
  }
  if (!bucket_in_path || !url.path.empty()) {
    text.append("/").append(PercentEncode(url.path, Slashes::kKeep));
  }
  return query.empty() ? text : text.append("?").append(query);
}

HttpHeaders AuthorizedHeaders(const CloudAccess& access,
                              const HttpRequest& request, SigV4Time now) {
  if (!access.keys && !access.token) {
    return request.headers;
  }
  CheckMaySendSecrets(request.url);
  if (access.keys) {
    return Signed(access, *access.keys, request, now);
  }
  HttpHeaders headers = request.headers;
  headers.emplace_back("Authorization", "Bearer " + access.token());
  return headers;
}

}  // namespace infeed

#pragma once

#include <sys/types.h>

#include <string>
#include <string_view>
#include <vector>

namespace infeed {

// The credentials that the server checks.
inline constexpr std::string_view kS3AccessKey = "AKIATESTS0000000EXAMPLE";
inline constexpr std::string_view kS3SecretKey = "s3/Secret+of/the+tests0000";
inline constexpr std::string_view kSessionKey = "ASIATESTS0000000EXAMPLE";
inline constexpr std::string_view kSessionSecret = "session/Secret+of/tests0";
inline constexpr std::string_view kSessionToken = "session+token/of=the=tests";
inline constexpr std::string_view kGsAccessKey = "GOOG1TESTS000000EXAMPLE";
inline constexpr std::string_view kGsSecretKey = "gs+Secret/of+the/tests0000";
inline constexpr std::string_view kBearerToken = "ya29.bearer-of-the-tests";
inline constexpr std::string_view kReadToken = "ya29.reader-of-the-tests";

// A request as the server saw it.
struct LoggedRequest {
  std::string method;
  std::string path;   // as it was sent
  std::string query;  // likewise
  std::string range;  // "" when the whole was asked for
  std::string proof;  // first word of Authorization
  std::string fault;  // what the plan did to it
  int status = 0;     // 0 when there was no answer
  int connection = 0;
};

struct RequestLog {
  std::vector<LoggedRequest> requests;
  int peak_requests = 0;  // at a time

  [[nodiscard]] int Count(std::string_view method) const;
};

// tests/support/object_server.py while it runs: buckets "shards" (s3),
// "gs-shards" (gs) and "open" (s3 or gs, read by anyone), web files under
// plain/. Objects are in memory unless the flags say otherwise. Owns the
// process, which ends with the object. One thread at a time.
class ObjectServer {
 public:
  explicit ObjectServer(const std::vector<std::string>& flags = {});
  ~ObjectServer();
  ObjectServer(const ObjectServer&) = delete;
  ObjectServer& operator=(const ObjectServer&) = delete;

  [[nodiscard]] int port() const { return port_; }
  // "http://127.0.0.1:PORT", without credentials.
  [[nodiscard]] std::string url() const;

  // The rules of object_server_faults.py from now on, as they stand between
  // the brackets of "rules": [...]; "" for none.
  void SetFaults(const std::string& rules, int seed = 1) const;

  [[nodiscard]] RequestLog log() const;
  void ClearLog() const;

  // Past every check. place: BUCKET/KEY, percent-encoded.
  void Put(const std::string& place, std::string_view bytes) const;
  [[nodiscard]] std::string Get(const std::string& place) const;
  [[nodiscard]] bool Has(const std::string& place) const;
  [[nodiscard]] std::vector<std::string> Keys(const std::string& bucket) const;
  // The objects of multipart uploads that are neither complete nor aborted.
  [[nodiscard]] std::vector<std::string> OpenUploads() const;

 private:
  // Returns the status and puts the body into *answer.
  int Ask(const std::string& method, const std::string& path,
          std::string_view body, std::string* answer) const;

  pid_t process_ = -1;
  int stdin_ = -1;
  int port_ = 0;
};

}  // namespace infeed

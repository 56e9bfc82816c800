#pragma once

#include <list>
#include <sstream>
#include <string>

#include "tests/support/environment_variable.h"
#include "tests/support/temporary_folder.h"

namespace infeed {

// An environment without credentials, endpoints or a home folder's files, for
// the length of a test.
class CloudEnvironment {
 public:
  CloudEnvironment() {
    std::istringstream names(
        "AWS_ACCESS_KEY_ID AWS_SECRET_ACCESS_KEY AWS_SESSION_TOKEN "
        "AWS_PROFILE AWS_REGION AWS_DEFAULT_REGION AWS_ENDPOINT_URL_S3 "
        "AWS_ENDPOINT_URL AWS_CONFIG_FILE AWS_SHARED_CREDENTIALS_FILE "
        "GS_ACCESS_KEY_ID GS_SECRET_ACCESS_KEY GOOGLE_OAUTH_ACCESS_TOKEN "
        "CLOUDSDK_AUTH_ACCESS_TOKEN GOOGLE_APPLICATION_CREDENTIALS "
        "GS_ENDPOINT_URL STORAGE_EMULATOR_HOST INFEED_HTTP_BEARER_TOKEN "
        "INFEED_ALLOW_HTTP_CREDENTIALS http_proxy");
    for (std::string name; names >> name;) {
      Set(name, "");
    }
    Set("HOME", home_.path());
  }

  void Set(const std::string& name, const std::string& value) {
    variables_.emplace_front(name, value);
  }
  [[nodiscard]] const TemporaryFolder& home() const { return home_; }

 private:
  TemporaryFolder home_;
  // Destroyed from the front, so that each variable gets its old value back.
  std::list<EnvironmentVariable> variables_;
};

}  // namespace infeed

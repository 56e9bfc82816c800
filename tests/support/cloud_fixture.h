#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "records/cloud/cloud_settings.h"
#include "records/files/open_source.h"
#include "tests/support/cloud_environment.h"
#include "tests/support/object_server.h"

namespace infeed {

// An object server, with credentials for it in the environment, and settings
// under which a test that goes wrong ends within seconds.
class CloudFixture : public testing::Test {
 protected:
  explicit CloudFixture(const std::vector<std::string>& server_flags = {})
      : server_(server_flags) {
    Set("AWS_ENDPOINT_URL", server_.url());
    Set("AWS_ACCESS_KEY_ID", std::string(kS3AccessKey));
    Set("AWS_SECRET_ACCESS_KEY", std::string(kS3SecretKey));
    Set("GS_ENDPOINT_URL", server_.url());
    Set("GS_ACCESS_KEY_ID", std::string(kGsAccessKey));
    Set("GS_SECRET_ACCESS_KEY", std::string(kGsSecretKey));
    SetCloudSettings(settings_);
  }
  ~CloudFixture() override { SetCloudSettings({}); }

  // Until the end of the test; takes effect when the settings are set anew.
  void Set(const std::string& name, const std::string& value) {
    environment_.Set(name, value);
  }

  // Everything that a URL names, read in steps that fit no block.
  static std::string ReadAll(const std::string& url) {
    constexpr std::size_t kStepBytes = 10'007;
    const std::unique_ptr<ByteSource> source = OpenSource(url);
    std::string bytes(static_cast<std::size_t>(source->size()), '\0');
    for (std::size_t at = 0; at < bytes.size();) {
      const std::size_t got = source->ReadAt(
          static_cast<std::int64_t>(at),
          std::as_writable_bytes(std::span(bytes))
              .subspan(at, std::min(kStepBytes, bytes.size() - at)));
      EXPECT_GT(got, 0U);
      at += got;
    }
    return bytes;
  }

  ObjectServer server_;
  CloudSettings settings_{
      .retry = {.attempts = 4,
                .first_delay = std::chrono::milliseconds(1),
                .max_delay = std::chrono::milliseconds(5),
                .max_retry_after = std::chrono::milliseconds(10),
                .deadline = std::chrono::seconds(20)},
      .http = {.connect_timeout = std::chrono::seconds(2),
               .low_speed_time = std::chrono::seconds(1)},
      .block_bytes = 64 << 10,
      .connections = 4,
      .byte_budget = 1 << 20,
      .part_bytes = 64 << 10};

 private:
  CloudEnvironment environment_;
};

// Bytes that differ everywhere: the same for the same arguments.
[[nodiscard]] inline std::string MadeBytes(std::size_t size,
                                           std::uint32_t seed = 1) {
  std::string bytes(size, '\0');
  for (char& byte : bytes) {
    seed = seed * 1664525U + 1013904223U;
    byte = static_cast<char>(seed >> 24);
  }
  return bytes;
}

}  // namespace infeed

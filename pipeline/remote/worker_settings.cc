#include "pipeline/remote/worker_settings.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <mutex>
#include <system_error>
#include <utility>

#include <arpa/inet.h>
#include <netinet/in.h>

#include "base/atomic_file.h"
#include "base/environment.h"
#include "base/error.h"
#include "records/http/key_pair.h"

namespace infeed {
namespace {

constexpr const char* kTokenVariable = "INFEED_WORKER_TOKEN";
constexpr std::size_t kLeastToken = 32;

struct ProcessTls {
  std::mutex mutex;
  TlsFiles files;
};

ProcessTls& TheTls() {
  static ProcessTls tls;
  return tls;
}

bool IsTokenCharacter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
         (c >= '0' && c <= '9') || c == '-' || c == '_';
}

// The message has nothing of the token.
std::string TokenOfProcess() {
  const std::string token = ProcessEnvironment()(kTokenVariable).value_or("");
  if (token.empty()) {
    return token;
  }
  if (token.size() < kLeastToken ||
      !std::ranges::all_of(token, IsTokenCharacter)) {
    throw UsageError(std::string(kTokenVariable) +
                     ": must have at least 32 characters, each a letter, a "
                     "digit, - or _; `openssl rand -hex 32` prints one");
  }
  return token;
}

// The host of HOST:PORT, without the brackets of IPv6.
std::string HostOfAddress(const std::string& address) {
  const std::string host = address.substr(0, address.rfind(':'));
  if (host.size() > 2 && host.front() == '[' && host.back() == ']') {
    return host.substr(1, host.size() - 2);
  }
  return host;
}

bool IsThisMachineAlone(const std::string& host) {
  constexpr std::uint32_t kLoopbackNet = 127;
  in_addr four{};
  if (inet_pton(AF_INET, host.c_str(), &four) == 1) {
    return ntohl(four.s_addr) >> 24 == kLoopbackNet;
  }
  in6_addr six{};
  if (inet_pton(AF_INET6, host.c_str(), &six) == 1) {
    return IN6_IS_ADDR_LOOPBACK(&six);
  }
  return host == "localhost";
}

// gRPC would only log it, and nothing could be connected. Missing files are
// refused where they are opened.
void CheckKeyPair(const TlsFiles& files) {
  constexpr std::int64_t kMostBytes = 1 << 20;
  std::error_code ignored;
  if (std::filesystem::is_regular_file(files.cert, ignored) &&
      std::filesystem::is_regular_file(files.key, ignored) &&
      !IsKeyOf(ReadWholeFile(files.key, kMostBytes),
               ReadWholeFile(files.cert, kMostBytes))) {
    throw UsageError(files.key + ": is not the private key of " + files.cert +
                     ", both in PEM and without a password");
  }
}

}  // namespace

void SetWorkerTls(const TlsFiles& files) {
  const bool has_all =
      !files.cert.empty() && !files.key.empty() && !files.ca.empty();
  if (!has_all && files != TlsFiles{}) {
    throw UsageError(
        "TLS between a trainer and its workers needs three files: tls_cert, "
        "tls_key and tls_ca; give all of them or none");
  }
  CheckKeyPair(files);
  ProcessTls& process = TheTls();
  const std::scoped_lock lock(process.mutex);
  process.files = files;
}

RpcAccess WorkerAccess() {
  std::string token = TokenOfProcess();
  ProcessTls& process = TheTls();
  const std::scoped_lock lock(process.mutex);
  return {.token = std::move(token), .tls = process.files};
}

void CheckListenAddress(const std::string& address, const RpcAccess& access) {
  if (!access.token.empty() || access.has_tls() ||
      IsThisMachineAlone(HostOfAddress(address))) {
    return;
  }
  throw UsageError(address +
                   ": other machines can reach this address: set "
                   "INFEED_WORKER_TOKEN or give TLS files, or listen at "
                   "127.0.0.1");
}

}  // namespace infeed

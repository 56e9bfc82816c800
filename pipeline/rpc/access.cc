#include "pipeline/rpc/access.h"

#include <cstddef>
#include <fstream>
#include <iterator>
#include <string_view>

#include <grpcpp/security/tls_certificate_provider.h>
#include <grpcpp/security/tls_certificate_verifier.h>
#include <grpcpp/security/tls_credentials_options.h>

#include "base/environment.h"
#include "base/error.h"

namespace infeed {
namespace {

namespace tls = grpc::experimental;

constexpr unsigned kSecondsBetweenReads = 60;

// gRPC only logs what is wrong with a file, and then has no certificate.
void CheckPem(const std::string& path, std::string_view kind) {
  std::ifstream file(path, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  if (!file) {
    throw UsageError(path + ": cannot be read; give the file with the " +
                     std::string(kind) + " in PEM");
  }
  const std::size_t begin = text.find("-----BEGIN ");
  if (begin == std::string::npos ||
      text.find(kind, begin) == std::string::npos) {
    throw UsageError(path + ": has no " + std::string(kind) + " in PEM");
  }
}

std::shared_ptr<tls::CertificateProviderInterface> WatchedFiles(
    const RpcAccess& access) {
  CheckPem(access.tls.cert, "CERTIFICATE");
  CheckPem(access.tls.key, "PRIVATE KEY");
  CheckPem(access.tls.ca, "CERTIFICATE");
  return std::make_shared<tls::FileWatcherCertificateProvider>(
      access.tls.key, access.tls.cert, access.tls.ca, kSecondsBetweenReads);
}

}  // namespace

std::shared_ptr<grpc::ChannelCredentials> ToChannelCredentials(
    const RpcAccess& access) {
  if (!access.has_tls()) {
    return grpc::InsecureChannelCredentials();
  }
  tls::TlsChannelCredentialsOptions options;
  options.set_certificate_provider(WatchedFiles(access));
  options.watch_root_certs();
  options.watch_identity_key_cert_pairs();
  options.set_certificate_verifier(
      std::make_shared<tls::HostNameCertificateVerifier>());
  return tls::TlsCredentials(options);
}

std::shared_ptr<grpc::ServerCredentials> ToServerCredentials(
    const RpcAccess& access) {
  if (!access.has_tls()) {
    return grpc::InsecureServerCredentials();
  }
  tls::TlsServerCredentialsOptions options(WatchedFiles(access));
  options.watch_root_certs();
  options.watch_identity_key_cert_pairs();
  options.set_cert_request_type(
      GRPC_SSL_REQUEST_AND_REQUIRE_CLIENT_CERTIFICATE_AND_VERIFY);
  return tls::TlsServerCredentials(options);
}

bool HasToken(const std::multimap<grpc::string_ref, grpc::string_ref>& metadata,
              const std::string& token) {
  if (token.empty()) {
    return true;
  }
  const auto found = metadata.find(kTokenKey);
  return found != metadata.end() &&
         IsSameToken({found->second.data(), found->second.size()}, token);
}

}  // namespace infeed

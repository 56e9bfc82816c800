#include "tests/support/test_identity.h"

#include <memory>
#include <string_view>

#include <nlohmann/json.hpp>
#include <openssl/bio.h>
#include <openssl/core_names.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rsa.h>
#include <openssl/x509v3.h>

#include "base/atomic_file.h"
#include "base/error.h"

namespace infeed {
namespace {

constexpr std::string_view kEmail = "tests@infeed.iam.gserviceaccount.com";
constexpr unsigned int kKeyBits = 2048;

struct Freed {
  void operator()(EVP_PKEY* key) const { EVP_PKEY_free(key); }
  void operator()(BIO* bio) const { BIO_free(bio); }
  void operator()(X509* certificate) const { X509_free(certificate); }
  void operator()(X509_EXTENSION* part) const { X509_EXTENSION_free(part); }
  void operator()(BIGNUM* number) const { BN_free(number); }
};
using IdentityKey = std::unique_ptr<EVP_PKEY, Freed>;
using Bio = std::unique_ptr<BIO, Freed>;
using Certificate = std::unique_ptr<X509, Freed>;

IdentityKey NewKey() {
  IdentityKey key(EVP_RSA_gen(kKeyBits));
  Check(key != nullptr, "a key can be made");
  return key;
}

std::string TextOf(const Bio& bio) {
  char* data = nullptr;
  const long size = BIO_get_mem_data(bio.get(), &data);
  return {data, static_cast<std::size_t>(size)};
}

std::string PrivatePem(const IdentityKey& key) {
  const Bio bio(BIO_new(BIO_s_mem()));
  Check(PEM_write_bio_PKCS8PrivateKey(bio.get(), key.get(), nullptr, nullptr, 0,
                                      nullptr, nullptr) == 1,
        "a key can be written");
  return TextOf(bio);
}

std::string ModulusOf(const IdentityKey& key) {
  BIGNUM* modulus = nullptr;
  Check(EVP_PKEY_get_bn_param(key.get(), OSSL_PKEY_PARAM_RSA_N, &modulus) == 1,
        "a key has a modulus");
  const std::unique_ptr<BIGNUM, Freed> owned(modulus);
  char* hex = BN_bn2hex(modulus);
  const std::string text = hex;
  OPENSSL_free(hex);
  return text;
}

void AddExtension(X509* certificate, int kind, const char* value) {
  const std::unique_ptr<X509_EXTENSION, Freed> part(
      X509V3_EXT_conf_nid(nullptr, nullptr, kind, value));
  Check(part != nullptr && X509_add_ext(certificate, part.get(), -1) == 1,
        "a certificate takes an extension");
}

Certificate SelfSigned(const IdentityKey& key) {
  constexpr long kDaySeconds = 86'400;
  Certificate certificate(X509_new());
  X509* const x = certificate.get();
  X509_set_version(x, X509_VERSION_3);
  ASN1_INTEGER_set(X509_get_serialNumber(x), 1);
  X509_gmtime_adj(X509_getm_notBefore(x), -kDaySeconds);
  X509_gmtime_adj(X509_getm_notAfter(x), kDaySeconds);
  X509_NAME* const name = X509_get_subject_name(x);
  X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC,
                             reinterpret_cast<const unsigned char*>("tests"),
                             -1, -1, 0);
  X509_set_issuer_name(x, name);
  X509_set_pubkey(x, key.get());
  AddExtension(x, NID_subject_alt_name, "IP:127.0.0.1");
  AddExtension(x, NID_basic_constraints, "critical,CA:TRUE");
  Check(X509_sign(x, key.get(), EVP_sha256()) > 0,
        "a certificate can be signed");
  return certificate;
}

}  // namespace

TestServiceAccount::TestServiceAccount() {
  const IdentityKey key = NewKey();
  private_key_ = PrivatePem(key);
  modulus_ = ModulusOf(key);
}

std::string TestServiceAccount::server_flag() const {
  return "--service_account=" + std::string(kEmail) + ":" + modulus_;
}

void TestServiceAccount::WriteJson(const std::string& path,
                                   const std::string& token_uri) const {
  const nlohmann::json json = {{"type", "service_account"},
                               {"project_id", "infeed-tests"},
                               {"private_key_id", "0123456789abcdef"},
                               {"private_key", private_key_},
                               {"client_email", kEmail},
                               {"token_uri", token_uri}};
  WriteFileAtomically(path, json.dump(2));
}

void WriteTestCertificate(const std::string& certificate_path,
                          const std::string& key_path) {
  const IdentityKey key = NewKey();
  const Certificate certificate = SelfSigned(key);
  const Bio bio(BIO_new(BIO_s_mem()));
  Check(PEM_write_bio_X509(bio.get(), certificate.get()) == 1,
        "a certificate can be written");
  WriteFileAtomically(certificate_path, TextOf(bio));
  WriteFileAtomically(key_path, PrivatePem(key));
}

}  // namespace infeed

#include "records/http/key_pair.h"

#include <memory>

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>

namespace infeed {
namespace {

using PemText = std::unique_ptr<BIO, decltype(&BIO_free_all)>;

PemText TextOf(const std::string& pem) {
  return {BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())),
          &BIO_free_all};
}

}  // namespace

bool IsKeyOf(const std::string& key, const std::string& certificates) {
  // Without a password callback OpenSSL would prompt at the terminal.
  const auto no_password = [](char*, int, int, void*) { return -1; };
  const std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)> own(
      PEM_read_bio_PrivateKey(TextOf(key).get(), nullptr, no_password, nullptr),
      &EVP_PKEY_free);
  const std::unique_ptr<X509, decltype(&X509_free)> first(
      PEM_read_bio_X509(TextOf(certificates).get(), nullptr, no_password,
                        nullptr),
      &X509_free);
  const bool is_pair = own != nullptr && first != nullptr &&
                       X509_check_private_key(first.get(), own.get()) == 1;
  ERR_clear_error();  // The thread's next user would take it for its own.
  return is_pair;
}

}  // namespace infeed

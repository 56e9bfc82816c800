#include "records/bytes/sha256.h"

#include <string_view>

#include <openssl/evp.h>

#include "base/error.h"

namespace infeed {

Sha256::Sha256() : context_(EVP_MD_CTX_new(), EVP_MD_CTX_free) {
  Check(
      context_ && EVP_DigestInit_ex(context_.get(), EVP_sha256(), nullptr) == 1,
      "OpenSSL has SHA-256");
}

void Sha256::Add(std::span<const std::byte> bytes) {
  Check(EVP_DigestUpdate(context_.get(), bytes.data(), bytes.size()) == 1,
        "hashing bytes does not fail");
}

Sha256::Digest Sha256::Finish() {
  Digest digest{};
  Check(EVP_DigestFinal_ex(context_.get(), digest.data(), nullptr) == 1,
        "hashing bytes does not fail");
  return digest;
}

std::string Hex(const Sha256::Digest& digest) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string hex;
  for (const unsigned char byte : digest) {
    hex.push_back(kDigits[byte >> 4]);
    hex.push_back(kDigits[byte & 0xF]);
  }
  return hex;
}

}  // namespace infeed

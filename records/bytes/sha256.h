#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <span>
#include <string>

struct evp_md_ctx_st;  // OpenSSL's EVP_MD_CTX

namespace infeed {

// The SHA-256 hash of bytes that are added piece by piece. One thread at a
// time.
class Sha256 {
 public:
  using Digest = std::array<unsigned char, 32>;

  Sha256();

  void Add(std::span<const std::byte> bytes);
  // Requires: called once, last.
  [[nodiscard]] Digest Finish();

 private:
  std::unique_ptr<evp_md_ctx_st, void (*)(evp_md_ctx_st*)> context_;
};

// The hash as 64 hex digits.
[[nodiscard]] std::string Hex(const Sha256::Digest& digest);

}  // namespace infeed

#include "bench/common/stream_hash.h"

#include <array>
#include <cstddef>
#include <span>

#include <fmt/format.h>
#include <openssl/evp.h>

#include "base/error.h"

namespace infeed {
namespace {

struct FreeContext {
  void operator()(EVP_MD_CTX* context) const { EVP_MD_CTX_free(context); }
};

}  // namespace

struct StreamHash::State {
  void Add(std::span<const std::byte> bytes) {
    Check(EVP_DigestUpdate(context.get(), bytes.data(), bytes.size()) == 1,
          "SHA-256 takes bytes");
  }

  std::unique_ptr<EVP_MD_CTX, FreeContext> context{EVP_MD_CTX_new()};
};

StreamHash::StreamHash() : state_(std::make_unique<State>()) {
  Check(EVP_DigestInit_ex(state_->context.get(), EVP_sha256(), nullptr) == 1,
        "OpenSSL has SHA-256");
}

StreamHash::~StreamHash() = default;

void StreamHash::Add(const Batch& batch) {
  state_->Add(std::as_bytes(batch.pixels()));
  state_->Add(std::as_bytes(batch.labels()));
}

std::string StreamHash::Finish() {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned int size = 0;
  Check(EVP_DigestFinal_ex(state_->context.get(), digest.data(), &size) == 1,
        "SHA-256 ends once");
  std::string text;
  for (const unsigned char byte : std::span(digest).first(size)) {
    text += fmt::format("{:02x}", byte);
  }
  return text;
}

}  // namespace infeed

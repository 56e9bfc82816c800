#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <span>
#include <string>

namespace infeed {

// The SHA-256 hash of bytes that are added piece by piece. One thread at a
// time.
class Sha256 {
 public:
  using Digest = std::array<unsigned char, 32>;

  Sha256();
  ~Sha256();
  Sha256(const Sha256&) = delete;
  Sha256& operator=(const Sha256&) = delete;

  void Add(std::span<const std::byte> bytes);
  // Requires: called once, last.
  [[nodiscard]] Digest Finish();

 private:
  struct Context;
  std::unique_ptr<Context> context_;
};

// The hash as 64 hex digits.
[[nodiscard]] std::string Hex(const Sha256::Digest& digest);

}  // namespace infeed

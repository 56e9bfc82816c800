#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <span>

#include "records/bytes/byte_source.h"

namespace infeed {

// Wraps another source: reports how far it has been read, and computes the
// checksum of the whole, without a second pass if it is read in order.
//
// Owns the other source. Const members may be called from several threads at
// once; others need one thread at a time. Throws what the other one throws.
class TrackedSource final : public ByteSource {
 public:
  // Calls on_progress(bytes) with the bytes by which a read went beyond all
  // earlier reads.
  TrackedSource(std::unique_ptr<ByteSource> source,
                std::function<void(std::int64_t bytes)> on_progress);

  [[nodiscard]] std::size_t ReadAt(
      std::int64_t offset, std::span<std::byte> destination) const override;
  void WillRead(std::int64_t offset, std::int64_t bytes) const override;

  // CRC-32C of all bytes; reads the bytes that were not read in order.
  [[nodiscard]] std::uint32_t Checksum() const;

 private:
  void Note(std::int64_t offset, std::span<const std::byte> bytes) const;

  std::unique_ptr<ByteSource> source_;
  std::function<void(std::int64_t)> on_progress_;
  mutable std::mutex mutex_;
  mutable std::int64_t furthest_ = 0;  // end of the reads, gaps included
  mutable std::int64_t summed_ = 0;    // bytes in the checksum
  mutable std::uint32_t crc_ = 0;
};

}  // namespace infeed

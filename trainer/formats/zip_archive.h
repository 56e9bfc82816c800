#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace infeed {

// A zip archive in memory. Only uncompressed members can be read, as
// torch.save() writes them. Members never overlap: all of them together are no
// larger than the archive. The CRC-32 of each is verified.
//
// The bytes must outlive the archive. One thread at a time. Throws DataError
// naming the member.
class ZipArchive {
 public:
  explicit ZipArchive(std::span<const std::byte> bytes);
  ~ZipArchive();
  ZipArchive(const ZipArchive&) = delete;
  ZipArchive& operator=(const ZipArchive&) = delete;

  // In the archive's order.
  [[nodiscard]] const std::vector<std::string>& names() const { return names_; }

  // The member's bytes.
  [[nodiscard]] std::vector<std::byte> Read(const std::string& name);

 private:
  struct Handle;

  [[nodiscard]] std::uint64_t PackedBytes(std::int64_t member) const;

  std::unique_ptr<Handle> handle_;
  std::size_t archive_bytes_;
  std::vector<std::string> names_;
};

}  // namespace infeed

#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>

namespace infeed {

// The bytes of a file in memory, read-only, behind a guard. A process that
// reads mapped bytes which the file has lost, because it became shorter, or
// which the medium cannot return, gets the signal SIGBUS. The guard handles it:
// from this place on the mapping reads as zeros, and is_damaged() is true. Ask
// after the use of the bytes, whether they were there, and if not, read them
// from the file.
//
// Thread-safe. A SIGBUS elsewhere goes to the handler that was set before.
class MappedFile {
 public:
  // Maps a whole file. Returns null when it cannot be opened, is empty or does
  // not fit in the address space, or when the system refuses or limits that of
  // the process: reading the file says why, or does without.
  [[nodiscard]] static std::unique_ptr<MappedFile> Map(const std::string& path);
  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  [[nodiscard]] std::span<const std::byte> bytes() const { return bytes_; }
  [[nodiscard]] bool is_damaged() const;

  // Whether a part has been there until now, as far as its last four bytes can
  // tell: what a shorter file has lost of its last page reads as zeros without
  // a signal. If they are zeros, the mapping counts as damaged from now on.
  // Requires: the part lies in bytes() and has four bytes.
  [[nodiscard]] bool IsWhole(std::span<const std::byte> part) const;

 private:
  struct Guarded;
  explicit MappedFile(std::span<const std::byte> bytes);

  friend struct BusErrors;

  std::span<const std::byte> bytes_;
  Guarded* guarded_;
};

}  // namespace infeed

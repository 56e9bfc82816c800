#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "records/byte_source.h"

namespace infeed {

// The bytes of an object in a store or on a web server. A read fetches what it
// asks for; what is read in order, or announced by WillRead(), is fetched
// ahead in blocks by the process's fetch threads under its byte budget.
//
// Owns its blocks. Const members may be called from several threads at once;
// others need one thread at a time. Throws IoError, and UsageError for a URL or
// credentials that cannot be used. An object that is replaced while it is read
// is an IoError, never a mix of both.
class ObjectSource final : public ByteSource {
 public:
  explicit ObjectSource(std::string url);
  ~ObjectSource() override;

  [[nodiscard]] std::size_t ReadAt(
      std::int64_t offset, std::span<std::byte> destination) const override;
  void WillRead(std::int64_t offset, std::int64_t bytes) const override;

 private:
  class Blocks;
  std::unique_ptr<Blocks> blocks_;
};

}  // namespace infeed

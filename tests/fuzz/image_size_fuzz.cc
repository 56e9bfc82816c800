#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "base/error.h"
#include "preprocess/codecs/stored_size.h"

// Any bytes have a size or none, and no read goes beyond them.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data,
                                      std::size_t size) {
  const std::optional<infeed::StoredSize> image =
      infeed::ReadStoredSize(std::as_bytes(std::span(data, size)));
  infeed::Check(!image || (image->width > 0 && image->height > 0),
                "a size has pixels");
  return 0;
}

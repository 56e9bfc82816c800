#include <cstddef>
#include <cstdint>
#include <span>

#include "base/error.h"
#include "trainer/formats/safetensors.h"

// Any bytes are tensors or a DataError, and half precision takes no more than
// twice its bytes.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data,
                                      std::size_t size) {
  std::int64_t total = 0;
  try {
    for (const auto& [name, tensor] :
         infeed::ParseSafetensors(std::as_bytes(std::span(data, size)))) {
      total += static_cast<std::int64_t>(tensor.bytes.size());
    }
  } catch (const infeed::DataError&) {
    // What the format's reader says of bytes that are not its own.
  }
  infeed::Check(total <= 2 * static_cast<std::int64_t>(size),
                "tensors hold no more than twice the file");
  return 0;
}

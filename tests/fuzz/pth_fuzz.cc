#include <cstddef>
#include <cstdint>
#include <span>

#include "base/error.h"
#include "trainer/formats/pickle.h"
#include "trainer/formats/pth_file.h"

// Any bytes are weights or a DataError: as a whole file, and, since its
// checksums stand in a fuzzer's way, as the pickle in one.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data,
                                      std::size_t size) {
  const auto bytes = std::as_bytes(std::span(data, size));
  std::size_t total = 0;
  try {
    for (const auto& [name, tensor] : infeed::ParsePth(bytes)) {
      total += tensor.bytes.size();
    }
  } catch (const infeed::DataError&) {
    // What the format's reader says of bytes that are not its own.
  }
  infeed::Check(total <= 4 * size, "tensors take no more than they may");
  try {
    const infeed::Pickle pickle(bytes);
    (void)infeed::FindEntry(pickle.root(), "state_dict");
  } catch (const infeed::DataError&) {
    // Likewise.
  }
  return 0;
}

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "base/error.h"
#include "preprocess/jpeg_entropy/seek_index.h"

// Any bytes are an index or none; what is taken for one is whole, and comes
// back the same from bytes of our own.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data,
                                      std::size_t size) {
  infeed::JpegSeekIndex index;
  if (infeed::ParseSeekIndex(std::as_bytes(std::span(data, size)), index)) {
    // Checks that the entries are all there and ascend.
    const std::string bytes = infeed::SerializeSeekIndex(index);
    infeed::JpegSeekIndex again;
    infeed::Check(
        infeed::ParseSeekIndex(std::as_bytes(std::span(bytes)), again) &&
            again == index,
        "an index comes back from its bytes");
    infeed::Check(bytes.size() <= size, "ours are the shortest bytes");
  }
  return 0;
}

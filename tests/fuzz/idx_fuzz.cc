#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "base/error.h"
#include "records/bytes/byte_source.h"
#include "tools/images/raw_images.h"

// Any bytes are an IDX file, packed or not, of just the size that its header
// says, or a DataError.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data,
                                      std::size_t size) {
  const std::string bytes(reinterpret_cast<const char*>(data), size);
  for (const int dimensions : {1, 3}) {
    try {
      const infeed::IdxFile file = infeed::OpenIdx(
          std::make_shared<infeed::MemorySource>("fuzz", bytes), dimensions);
      std::int64_t values = 1;
      for (const std::int64_t count : file.sizes) {
        values *= count;
      }
      infeed::Check(file.bytes->size() == file.first + values,
                    "all values are there");
    } catch (const infeed::DataError&) {
      continue;
    }
  }
  return 0;
}

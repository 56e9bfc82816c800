#include <cstddef>
#include <cstdint>
#include <span>

#include "base/error.h"
#include "trainer/formats/sorted_table.h"

// Any bytes are a table or a DataError.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data,
                                      std::size_t size) {
  try {
    std::size_t values = 0;
    for (const auto& [key, value] :
         infeed::ParseSortedTable(std::as_bytes(std::span(data, size)))) {
      values += value.size();
    }
    infeed::Check(values <= size, "values are what the file holds");
  } catch (const infeed::DataError&) {
    // What the format's reader says of bytes that are not its own.
  }
  return 0;
}

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/error.h"
#include "tools/images/csv.h"

// Any text is a table or a DataError: each row has a field and begins after
// the one before.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data,
                                      std::size_t size) {
  infeed::CsvReader reader({reinterpret_cast<const char*>(data), size}, ',');
  std::vector<std::string> fields;
  std::int64_t line = 0;
  try {
    while (reader.Next(fields)) {
      infeed::Check(!fields.empty(), "a row has a field");
      infeed::Check(reader.line() > line, "rows follow each other");
      line = reader.line();
    }
  } catch (const infeed::DataError&) {
    return 0;
  }
  return 0;
}

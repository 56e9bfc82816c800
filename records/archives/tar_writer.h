#pragma once

#include <cstddef>
#include <span>
#include <string_view>

#include "records/bytes/byte_sink.h"

namespace infeed {

// Writes files into a tar archive, in ustar format, which every tar reads, with
// pax headers for what does not fit it: some names longer than 100 bytes, and
// files of 8 GiB and more. All files have mode 0644, no owner and time 0, so
// that equal input gives equal bytes.
//
// The sink must outlive the writer. One thread at a time. Throws DataError for
// a name that ParseTarSample() would not accept, and what the sink throws.
class TarWriter {
 public:
  explicit TarWriter(ByteSink& sink) : sink_(sink) {}

  // Appends a file. name: relative, with "/" between folders.
  void Add(std::string_view name, std::span<const std::byte> bytes);
  // Writes the end of the archive. Does not commit the sink. Requires: called
  // once, last.
  void Finish();

 private:
  void WritePadded(std::span<const std::byte> bytes);

  ByteSink& sink_;
};

}  // namespace infeed

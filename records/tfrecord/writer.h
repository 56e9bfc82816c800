#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "records/tfrecord/compression.h"

namespace infeed {

struct TfrecordWriterOptions {
  Compression compression = Compression::kNone;
  // Whether Close() writes an index file in SideFolder(). Compressed files and
  // objects in a store get none.
  bool write_index = false;
  // As AtomicFile takes it: kNamedByUser follows a symbolic link.
  int own_names = 1;
};

// Writes one TFRecord file or object. It appears under its name, complete, when
// Close() returns; without Close() nothing remains. One thread at a time.
// Throws IoError.
class TfrecordWriter {
 public:
  // A path, or a URL as OpenSink() takes it.
  explicit TfrecordWriter(std::string path,
                          const TfrecordWriterOptions& options = {});
  ~TfrecordWriter();
  TfrecordWriter(const TfrecordWriter&) = delete;
  TfrecordWriter& operator=(const TfrecordWriter&) = delete;
  TfrecordWriter(TfrecordWriter&&) noexcept;
  TfrecordWriter& operator=(TfrecordWriter&&) noexcept;

  void Append(std::span<const std::byte> payload);
  void Append(std::string_view payload);
  // Appends one record whose payload is in several parts, in this order.
  void AppendParts(std::initializer_list<std::string_view> parts);
  // Completes the file. Throws errors, which a destructor could not. Requires:
  // called once, last.
  void Close();

  [[nodiscard]] std::int64_t records() const;
  // Bytes of the file so far; compressed bytes may still be held back.
  [[nodiscard]] std::int64_t size() const;
  // CRC-32C of the file, for dataset.json. Requires: Close() returned.
  [[nodiscard]] std::uint32_t crc32c() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace infeed

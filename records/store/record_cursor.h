#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "records/bytes/byte_source.h"
#include "records/store/record_index.h"
#include "records/store/record_store.h"
#include "records/tfrecord/reader.h"

namespace infeed {

// RecordStoreOptions::image_key of a file: as given, or, if it is the standard
// one and none of a tar's first samples has an image, "": the members are read.
[[nodiscard]] std::string TarImageKey(const RecordIndex& index,
                                      const std::string& image_key);

// Reads the records of one file in order, whatever its format: TFRecords as
// TfrecordReader does, those of a tar or a zip as RecordStore makes them.
//
// A record that Next() returns is valid until the next call. One thread at a
// time. The constructor and Next() throw what TfrecordReader does; the error of
// a file without records, such as an image, names the file's format. After a
// bad record of an archive the next call returns the one behind it.
class RecordCursor {
 public:
  // image_key: of tars; replaced by TarImageKey().
  explicit RecordCursor(std::unique_ptr<ByteSource> source,
                        const TfrecordReaderOptions& options = {},
                        const std::string& image_key = std::string(kImageKey));

  // Returns the next record, or nullopt at the end, also when called again.
  [[nodiscard]] std::optional<Record> Next();

  [[nodiscard]] RecordFormat format() const { return format_; }
  [[nodiscard]] Compression compression() const { return compression_; }
  // For TFRecords: TfrecordReader::gaps().
  [[nodiscard]] const std::vector<Gap>& gaps() const;
  // For archives: RecordIndex::notes().
  [[nodiscard]] std::vector<std::string> notes() const;

 private:
  RecordFormat format_ = RecordFormat::kTfrecord;
  Compression compression_ = Compression::kNone;
  // For TFRecords the reader, and the source that it owns; for archives the
  // source, which the caller may observe, and the objects that read it.
  std::unique_ptr<TfrecordReader> reader_;
  const ByteSource* tfrecords_ = nullptr;
  std::unique_ptr<ByteSource> source_;
  std::unique_ptr<const RecordIndex> index_;
  std::unique_ptr<const RecordStore> store_;
  std::vector<std::byte> buffer_;
  std::int64_t next_ = 0;
};

}  // namespace infeed

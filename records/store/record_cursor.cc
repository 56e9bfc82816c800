#include "records/store/record_cursor.h"

#include <string>
#include <utility>

#include "base/error.h"
#include "records/store/file_records.h"
#include "records/store/other_file.h"

namespace infeed {
namespace {

// The error of a file's first record; if the file has no records, its format is
// the reason.
DataError Explained(const DataError& error, const ByteSource& file) {
  const std::string other =
      error.origin().record > 0 ? "" : DescribeOtherFile(file);
  return other.empty() ? error : DataError(error.origin(), other);
}

}  // namespace

RecordCursor::RecordCursor(std::unique_ptr<ByteSource> source,
                           const TfrecordReaderOptions& options,
                           const std::string& image_key)
    : format_(DetectFormat(*source)) {
  if (format_ == RecordFormat::kTfrecord) {
    tfrecords_ = source.get();
    reader_ = std::make_unique<TfrecordReader>(std::move(source), options);
    compression_ = reader_->compression();
    return;
  }
  source_ = std::move(source);
  index_ = std::make_unique<const RecordIndex>(
      std::vector<std::string>{source_->path()},
      RecordIndexOptions{.max_record_bytes = options.max_record_bytes});
  store_ = std::make_unique<const RecordStore>(
      *index_, RecordStoreOptions{.verify_checksums = options.verify_checksums,
                                  .image_key = image_key});
  compression_ = index_->compression(0);
}

std::optional<Record> RecordCursor::Next() {
  if (reader_) {
    try {
      return reader_->Next();
    } catch (const DataError& error) {
      throw Explained(error, *tfrecords_);
    }
  }
  if (next_ == index_->size()) {
    return std::nullopt;
  }
  const std::int64_t record = next_++;
  return Record{.payload = store_->Read(record, buffer_),
                .number = record,
                .offset = index_->at(record).offset};
}

const std::vector<Gap>& RecordCursor::gaps() const {
  static const std::vector<Gap> none;
  return reader_ ? reader_->gaps() : none;
}

std::vector<std::string> RecordCursor::notes() const {
  return index_ ? index_->notes() : std::vector<std::string>();
}

}  // namespace infeed

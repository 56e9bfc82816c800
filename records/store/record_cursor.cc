#include "records/store/record_cursor.h"

#include <string>
#include <utility>

namespace infeed {

RecordCursor::RecordCursor(std::unique_ptr<ByteSource> source,
                           const TfrecordReaderOptions& options,
                           const std::string& image_key)
    : format_(DetectFormat(*source)) {
  if (format_ == RecordFormat::kTfrecord) {
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
    return reader_->Next();
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

#include "records/store/record_cursor.h"

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "records/archives/tar_samples.h"
#include "records/example/reader.h"
#include "records/store/file_records.h"

namespace infeed {
namespace {

constexpr std::int64_t kFirstSamples = 8;

// The error of a file's first record; if the file has no records, its format is
// the reason.
DataError Explained(const DataError& error, const ByteSource& file) {
  const std::string other =
      error.origin().record > 0 ? "" : DescribeOtherFile(file);
  return other.empty() ? error : DataError(error.origin(), other);
}

}  // namespace

std::string TarImageKey(const RecordIndex& index,
                        const std::string& image_key) {
  if (image_key != kImageKey || index.size() == 0 ||
      index.format(0) != RecordFormat::kTar) {
    return image_key;
  }
  const RecordStore members(index, {.image_key = ""});
  std::vector<std::byte> buffer;
  bool is_read = false;
  for (std::int64_t i = 0; i < std::min(kFirstSamples, index.size()); ++i) {
    try {
      for (const ExampleFeature& member :
           ListFeatures(members.Read(i, buffer))) {
        if (IsImageEnding(member.key)) {
          return image_key;
        }
      }
      is_read = true;
    } catch (const DataError&) {  // Reported when it is read.
    }
  }
  return is_read ? "" : image_key;
}

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
      *index_,
      RecordStoreOptions{.verify_checksums = options.verify_checksums,
                         .image_key = TarImageKey(*index_, image_key)});
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

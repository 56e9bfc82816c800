#include "tools/convert/shard_file.h"

#include <span>

#include "base/error.h"
#include "records/archives/tar_index_file.h"
#include "records/archives/tar_writer.h"
#include "records/bytes/byte_sink.h"
#include "records/bytes/byte_source.h"
#include "records/bytes/crc32c.h"
#include "records/files/open_sink.h"
#include "records/tfrecord/writer.h"

namespace infeed {
namespace {

class TfrecordShard final : public ShardFile {
 public:
  explicit TfrecordShard(const std::string& path)
      : writer_(path, {.write_index = true}) {}

  void Append(const ImageRecord& record, std::string_view /*key*/) override {
    writer_.AppendParts({record.before, record.image, record.after});
  }
  void Close() override { writer_.Close(); }
  [[nodiscard]] std::int64_t records() const override {
    return writer_.records();
  }
  [[nodiscard]] std::int64_t size() const override { return writer_.size(); }
  [[nodiscard]] std::uint32_t crc32c() const override {
    return writer_.crc32c();
  }

 private:
  TfrecordWriter writer_;
};

// Computes the checksum of what it passes on to a file.
class TarFileSink final : public ByteSink {
 public:
  explicit TarFileSink(const std::string& path) : file_(OpenSink(path)) {}

  using ByteSink::Write;
  void Write(std::span<const std::byte> bytes) override {
    crc_ = ExtendCrc32c(crc_, bytes);
    file_->Write(bytes);
  }
  void Commit() override { file_->Commit(); }
  [[nodiscard]] std::int64_t size() const override { return file_->size(); }
  [[nodiscard]] std::uint32_t crc32c() const { return crc_; }

 private:
  std::unique_ptr<ByteSink> file_;
  std::uint32_t crc_ = 0;
};

// A tar of samples as the Python package webdataset reads them: KEY.jpg (or
// KEY.png), KEY.cls and KEY.json.
class TarShard final : public ShardFile {
 public:
  explicit TarShard(const std::string& path)
      : path_(path), sink_(path), tar_(sink_) {}

  void Append(const ImageRecord& record, std::string_view key) override {
    index_.offsets.push_back(sink_.size());
    index_.labels.push_back(record.sample.label);
    Add(key, record.sample.ending, record.image);
    Add(key, "cls", std::to_string(record.sample.label));
    Add(key, "json", record.sample.json);
    index_.end = sink_.size();
  }

  void Close() override {
    if (index_.offsets.empty()) {
      // A tar without members is all zeros, which is not recognized as a tar.
      // Readers skip names like this one.
      tar_.Add("__empty__", {});
    }
    tar_.Finish();
    sink_.Commit();
    try {
      (void)SaveTarIndex(FileSource(path_), {.samples = index_});
    } catch (const IoError&) {  // A reader that needs an index makes it.
    }
  }

  [[nodiscard]] std::int64_t records() const override {
    return std::ssize(index_.offsets);
  }
  [[nodiscard]] std::int64_t size() const override { return sink_.size(); }
  [[nodiscard]] std::uint32_t crc32c() const override { return sink_.crc32c(); }

 private:
  void Add(std::string_view key, std::string_view ending,
           std::string_view bytes) {
    tar_.Add(std::string(key).append(".").append(ending),
             std::as_bytes(std::span(bytes)));
  }

  std::string path_;
  TarFileSink sink_;
  TarWriter tar_;
  TarIndex index_;
};

}  // namespace

std::unique_ptr<ShardFile> OpenShardFile(const std::string& path,
                                         ShardFormat format) {
  switch (format) {
    case ShardFormat::kTfrecord:
      return std::make_unique<TfrecordShard>(path);
    case ShardFormat::kWebdataset:
      return std::make_unique<TarShard>(path);
  }
  return nullptr;
}

}  // namespace infeed

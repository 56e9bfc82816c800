#include "tools/convert/shard_converter.h"

#include <span>
#include <utility>

#include <fmt/format.h>

#include "base/error.h"
#include "records/archives/archive_index_file.h"
#include "records/archives/tar_writer.h"
#include "records/bytes/byte_sink.h"
#include "records/bytes/byte_source.h"
#include "records/files/open_sink.h"
#include "records/tfrecord/writer.h"
#include "tools/images/raw_images.h"
#include "tools/images/source.h"

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

// A tar of samples as the Python package webdataset reads them: KEY.jpg (or
// KEY.png), KEY.cls and KEY.json.
class TarShard final : public ShardFile {
 public:
  explicit TarShard(const std::string& path)
      : path_(path), sink_(OpenSink(path), crc_), tar_(sink_) {}

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
  [[nodiscard]] std::uint32_t crc32c() const override { return crc_; }

 private:
  void Add(std::string_view key, std::string_view ending,
           std::string_view bytes) {
    tar_.Add(std::string(key).append(".").append(ending),
             std::as_bytes(std::span(bytes)));
  }

  std::string path_;
  std::uint32_t crc_ = 0;
  SummedSink sink_;
  TarWriter tar_;
  TarIndex index_;
};

// The number of images being fetched from a store: a few per connection, so
// that no thread waits for the network.
constexpr std::size_t kItemsAhead = 64;

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

ShardConverter::ShardConverter(const ConversionPlan& plan,
                               std::string output_dir,
                               std::vector<FingerprintedTask> tasks,
                               RecordMaker& maker, ConversionObserver observer)
    : plan_(plan),
      output_dir_(std::move(output_dir)),
      tasks_(std::move(tasks)),
      maker_(maker),
      observer_(std::move(observer)),
      open_(tasks_.size()) {}

// "train-00000012": the place of the image in its split, where images that are
// left out count, too.
std::string ShardConverter::KeyOf(const ConversionItem& item) const {
  const PlannedSplit& split = SplitOf(item.shard);
  return fmt::format("{}-{:08}", split.name, item.image - split.images.data());
}

bool ShardConverter::Next(ConversionItem& item) {
  while (ahead_.size() < kItemsAhead && LookAhead()) {
  }
  if (ahead_.empty() || stopped_.load(std::memory_order_relaxed)) {
    return false;
  }
  item = std::move(ahead_.front());
  ahead_.pop_front();
  return true;
}

// Adds an item to ahead_. False: there are no more.
bool ShardConverter::LookAhead() {
  if (next_shard_ == tasks_.size()) {
    return false;
  }
  const PlannedShard& planned = Planned(next_shard_);
  ConversionItem& item = ahead_.emplace_back();
  item.shard = next_shard_;
  if (next_image_ == planned.count) {
    next_image_ = 0;
    ++next_shard_;
    return true;
  }
  item.image =
      &SplitOf(next_shard_)
           .images[static_cast<std::size_t>(planned.first + next_image_++)];
  if (item.image->raw_index >= 0) {
    plan_.raw->WillRead(*item.image);
  } else {
    item.fetched = FetchImage(*item.image);
  }
  return true;
}

void ShardConverter::Append(ConversionItem& item) {
  if (!open_[item.shard]) {
    Open(item.shard);
  }
  OpenShard& open = *open_[item.shard];
  FinishedShard& shard = open.shard;
  ImageRecord& record = item.record;
  const auto note = [&](std::vector<ImageNote>& notes, std::string& reason) {
    if (!reason.empty()) {
      notes.push_back({ImagePathForMessages(*item.image), std::move(reason)});
    }
  };
  open.has_bad_images |= record.bad;
  if (record.skipped.empty()) {
    open.file->Append(record, KeyOf(item));
    if (shard.seek_indexes) {
      *shard.seek_indexes += record.has_seek_index ? 1 : 0;
    }
    note(shard.reencoded, record.reencoded);
    note(shard.not_turned, record.not_turned);
  }
  note(shard.skipped, record.skipped);
  if (!observer_.on_image()) {
    stopped_.store(true, std::memory_order_relaxed);
  }
}

void ShardConverter::Open(std::size_t shard) {
  const std::string& name = Planned(shard).name;
  open_[shard] = std::make_unique<OpenShard>();
  open_[shard]->file = OpenShardFile(output_dir_ + "/" + name, plan_.format);
  open_[shard]->shard.fingerprint = tasks_[shard].fingerprint;
  open_[shard]->shard.info.name = name;
  if (maker_.seek_index() != SeekEntries::kNone) {
    open_[shard]->shard.seek_indexes = 0;
  }
}

void ShardConverter::Finish(std::size_t shard) {
  if (!open_[shard]) {
    Open(shard);  // For a shard none of whose images was appended.
  }
  const std::unique_ptr<OpenShard> done = std::move(open_[shard]);
  done->file->Close();
  FinishedShard& finished = done->shard;
  finished.info.records = done->file->records();
  finished.info.bytes = done->file->size();
  finished.info.crc32c = fmt::format("{:08x}", done->file->crc32c());
  if (done->has_bad_images) {
    finished.bad_image_policy = ChoiceName(maker_.on_bad_image(), kOnBadImages);
  }
  WriteFinishedShard(output_dir_, finished);
  observer_.on_shard(
      {.task = tasks_[shard].task, .shard = std::move(finished)});
}

}  // namespace infeed

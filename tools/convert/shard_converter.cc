#include "tools/convert/shard_converter.h"

#include <optional>
#include <utility>

#include <fmt/format.h>

#include "tools/images/raw_images.h"
#include "tools/images/source.h"

namespace infeed {
namespace {

// The number of images being fetched from a store: a few per connection, so
// that no thread waits for the network.
constexpr std::size_t kItemsAhead = 64;

}  // namespace

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

const PlannedSplit& ShardConverter::SplitOf(std::size_t shard) const {
  return plan_.splits[tasks_[shard].task.split];
}

const PlannedShard& ShardConverter::Planned(std::size_t shard) const {
  return SplitOf(shard).shards[tasks_[shard].task.shard];
}

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

void ShardConverter::Encode(ConversionItem& item) {
  item.record = maker_.Make(*item.image, item.fetched.get());
}

void ShardConverter::Append(ConversionItem& item) {
  if (!open_[item.shard]) {
    Open(item.shard);
  }
  OpenShard& shard = *open_[item.shard];
  ImageRecord& record = item.record;
  shard.has_bad_images |= record.bad;
  if (!record.skipped.empty()) {
    shard.skipped.push_back(
        {ImagePathForMessages(*item.image), std::move(record.skipped)});
  } else {
    shard.file->Append(record, KeyOf(item));
    shard.seek_indexes += record.has_seek_index ? 1 : 0;
    if (!record.reencoded.empty()) {
      shard.reencoded.push_back(
          {ImagePathForMessages(*item.image), std::move(record.reencoded)});
    }
    if (!record.not_turned.empty()) {
      shard.not_turned.push_back(
          {ImagePathForMessages(*item.image), std::move(record.not_turned)});
    }
  }
  if (!observer_.on_image()) {
    stopped_.store(true, std::memory_order_relaxed);
  }
}

void ShardConverter::Open(std::size_t shard) {
  open_[shard] = std::make_unique<OpenShard>();
  open_[shard]->file =
      OpenShardFile(output_dir_ + "/" + Planned(shard).name, plan_.format);
}

void ShardConverter::Finish(std::size_t shard) {
  if (!open_[shard]) {
    Open(shard);  // For a shard none of whose images was appended.
  }
  const std::unique_ptr<OpenShard> done = std::move(open_[shard]);
  done->file->Close();
  FinishedShard finished = {
      .fingerprint = tasks_[shard].fingerprint,
      .info = {.name = Planned(shard).name,
               .records = done->file->records(),
               .bytes = done->file->size(),
               .crc32c = fmt::format("{:08x}", done->file->crc32c())},
      .reencoded = std::move(done->reencoded),
      .skipped = std::move(done->skipped),
      .not_turned = std::move(done->not_turned),
      .seek_indexes = maker_.seek_index() == SeekEntries::kNone
                          ? std::optional<std::int64_t>()
                          : done->seek_indexes,
      .bad_image_policy =
          done->has_bad_images
              ? std::string(ChoiceName(maker_.on_bad_image(), kOnBadImages))
              : ""};
  WriteFinishedShard(output_dir_, finished);
  observer_.on_shard(
      {.task = tasks_[shard].task, .shard = std::move(finished)});
}

}  // namespace infeed

#include "tools/images/record_images.h"

#include <algorithm>
#include <mutex>
#include <numeric>
#include <string_view>
#include <utility>
#include <variant>

#include <fmt/format.h>

#include "base/error.h"
#include "records/bytes/fnv_hash.h"
#include "records/bytes/plain_text.h"
#include "records/example/imagenet_example.h"
#include "records/example/reader.h"
#include "records/files/open_source.h"
#include "tools/cli/parallel_for.h"

namespace infeed {
namespace {

// Records that one thread reads at once: enough for one read of many small
// ones.
constexpr std::int64_t kListedAtOnce = 64;

// The key of a tar's sample, with folders; "" if there is none.
std::string_view SampleKeyOf(std::span<const std::byte> payload) {
  for (const ExampleFeature& feature : ListFeatures(payload)) {
    const auto* values =
        std::get_if<std::vector<std::string_view>>(&feature.values);
    if (feature.key == "__key__" && values != nullptr && !values->empty()) {
      return values->front();
    }
  }
  return "";
}

ImagenetExampleView ParseRecord(std::span<const std::byte> payload,
                                const RecordKeys& keys) {
  const ImagenetExampleView view = ParseImagenetExample(
      payload, LabelList::kAny, {.image = keys.image, .label = keys.label});
  if (view.encoded.empty()) {
    RequireImageKey(payload, keys.image);
  }
  return view;
}

}  // namespace

RecordImages::RecordImages(RecordIndex index, const RecordKeys& given)
    : index_(std::move(index)),
      keys_(FindKeys(index_, given)),
      store_(index_, {.image_key = keys_.image}) {
  const std::uint64_t of_key =
      given.image == kImageKey ? 0 : FnvHash(given.image);
  for (const std::string& shard : index_.shards()) {
    versions_.push_back(OpenSource(shard)->version() ^
                        static_cast<std::int64_t>(of_key));
  }
}

std::vector<ListedRecord> RecordImages::List(
    int threads, const std::function<void(std::int64_t)>& on_records) {
  const std::int64_t size = index_.size();
  std::vector<ListedRecord> list(static_cast<std::size_t>(size));
  std::mutex mutex;
  std::int64_t done = 0;
  const auto parts = (size + kListedAtOnce - 1) / kListedAtOnce;
  ParallelFor(static_cast<std::size_t>(parts), threads, [&](std::size_t part) {
    const std::int64_t first = static_cast<std::int64_t>(part) * kListedAtOnce;
    std::vector<std::int64_t> records(
        static_cast<std::size_t>(std::min(kListedAtOnce, size - first)));
    std::iota(records.begin(), records.end(), first);
    const auto note_bad = [&](std::size_t place, const DataError& error) {
      list[static_cast<std::size_t>(records[place])] =
          DescribeBad(records[place]);
      const std::lock_guard lock(mutex);
      bad_.emplace(records[place], error.reason());
    };
    store_.ReadMany(
        records,
        [&](std::size_t place, std::span<const std::byte> payload) {
          try {
            list[static_cast<std::size_t>(records[place])] =
                Describe(records[place], payload);
          } catch (const DataError& error) {
            note_bad(place, error);
          }
        },
        note_bad);
    const std::lock_guard lock(mutex);
    done += std::ssize(records);
    on_records(done);
  });
  return list;
}

std::string RecordImages::Read(std::int64_t record) const {
  if (const auto bad = bad_.find(record); bad != bad_.end()) {
    throw DataError(bad->second);
  }
  std::vector<std::byte> buffer;
  return std::string(
      AsChars(ParseRecord(store_.Read(record, buffer), keys_).encoded));
}

std::string RecordImages::WhyNoLabel(std::int64_t record) const {
  std::vector<std::byte> buffer;
  return infeed::WhyNoLabel(store_.Read(record, buffer), keys_.label);
}

std::string RecordImages::PathOf(std::int64_t record,
                                 const std::string& name) const {
  return PathForMessages(ShardOf(record)) + "#" + name;
}

std::string RecordImages::NameIn(const ImageFile& image) const {
  return image.path.substr(PathForMessages(ShardOf(image.record)).size() + 1);
}

std::size_t RecordImages::FolderLength(const ImageFile& image) const {
  const std::string shard = PathForMessages(ShardOf(image.record));
  return shard.size() - BaseName(shard).size();
}

// The number with leading zeros, so that names sort like numbers.
std::string RecordImages::NumberOf(std::int64_t record) const {
  return fmt::format("{:08}", index_.at(record).number);
}

ListedRecord RecordImages::Describe(std::int64_t record,
                                    std::span<const std::byte> payload) const {
  const ImagenetExampleView view = ParseRecord(payload, keys_);
  ListedRecord listed = {.name = std::string(view.filename),
                         .label = view.label,
                         .bytes = std::ssize(view.encoded)};
  const auto shard = static_cast<std::size_t>(index_.at(record).shard);
  if (index_.format(shard) == RecordFormat::kTar) {
    const std::string_view key = SampleKeyOf(payload);
    listed.name.insert(0, key.substr(0, key.size() - BaseName(key).size()));
  } else if (IsArchiveTree(index_.format(shard)) && view.label > 0) {
    listed.name.insert(
        0,
        index_.class_names()[static_cast<std::size_t>(view.label - 1)] + "/");
  } else if (listed.name.empty()) {
    listed.name = NumberOf(record);
  }
  return listed;
}

ListedRecord RecordImages::DescribeBad(std::int64_t record) const {
  const auto shard = static_cast<std::size_t>(index_.at(record).shard);
  return {
      .name = NumberOf(record),
      .label = index_.holds_examples(shard) ? kNoLabel : index_.label(record),
      .is_bad = true};
}

}  // namespace infeed

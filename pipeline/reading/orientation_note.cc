#include "pipeline/reading/orientation_note.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/count_text.h"
#include "base/error.h"
#include "preprocess/codecs/exif.h"
#include "records/example/imagenet_example.h"
#include "records/files/open_source.h"
#include "records/store/record_store.h"

namespace infeed {
namespace {

constexpr std::int64_t kMostLookedAt = 32;

bool IsLocal(const RecordIndex& index) {
  return std::ranges::none_of(
      index.shards(), [](const std::string& path) { return IsUrl(path); });
}

// The records whose images are to be turned.
std::vector<std::int64_t> Turned(const RecordIndex& index,
                                 const std::vector<std::int64_t>& records) {
  std::vector<std::int64_t> turned;
  const RecordStore store(index);
  std::vector<std::byte> buffer;
  for (const std::int64_t record : records) {
    try {
      const ImagenetExampleView example =
          ParseImagenetExample(store.Read(record, buffer), LabelList::kAny);
      if (ReadExifOrientation(example.encoded) != 1) {
        turned.push_back(record);
      }
    } catch (const Error&) {  // Reported when it is read.
    }
  }
  return turned;
}

}  // namespace

std::string OrientationNote(const RecordIndex& index) {
  if (!index.is_of_images() || !IsLocal(index)) {
    return "";
  }
  const std::int64_t count = std::min(kMostLookedAt, index.size());
  std::vector<std::int64_t> records;
  for (std::int64_t i = 0; i < count; ++i) {
    records.push_back(i * index.size() / count);
  }
  const std::vector<std::int64_t> turned = Turned(index, records);
  if (turned.empty()) {
    return "";
  }
  const auto shard = static_cast<std::size_t>(index.at(turned.front()).shard);
  return std::to_string(turned.size()) + " of " + CountText(count, "image") +
         (count < index.size()
              ? " (those looked at, of " + std::to_string(index.size()) + ")"
              : "") +
         (turned.size() == 1 ? " has" : " have") +
         " an EXIF orientation, such as " +
         PathForMessages(index.shards()[shard]) +
         ": decoded as stored, not turned; imagenet_to_records --exif_rotate "
         "makes upright shards of them";
}

}  // namespace infeed

#include "tools/shards/seek_index_maker.h"

#include <cstdlib>
#include <optional>

#include "preprocess/jpeg_entropy/seek_index.h"
#include "records/store/seek_feature.h"

namespace infeed {

const std::map<std::string, SeekEntries>& SeekEntriesNames() {
  static const std::map<std::string, SeekEntries> names = {
      {"none", SeekEntries::kNone},
      {"rows", SeekEntries::kRows},
      {"8", SeekEntries::kEvery8th},
      {"4", SeekEntries::kEvery4th}};
  return names;
}

std::string_view SeekEntriesName(SeekEntries entries) {
  for (const auto& [name, value] : SeekEntriesNames()) {
    if (value == entries) {
      return name;
    }
  }
  std::abort();
}

int SeekRun(SeekEntries entries) {
  switch (entries) {
    case SeekEntries::kNone:
      break;
    case SeekEntries::kRows:
      return 0;
    case SeekEntries::kEvery8th:
      return 8;
    case SeekEntries::kEvery4th:
      return 4;
  }
  std::abort();
}

std::string MakeSealedSeekIndex(std::span<const std::byte> image,
                                SeekEntries entries) {
  if (entries == SeekEntries::kNone) {
    return {};
  }
  const std::optional<JpegSeekIndex> index =
      MakeSeekIndex(image, SeekRun(entries));
  return index ? SealSeekIndex(SerializeSeekIndex(*index), image) : "";
}

}  // namespace infeed

#include "tools/shards/seek_index_maker.h"

#include <cstdlib>
#include <optional>

#include "preprocess/jpeg_entropy/seek_index.h"
#include "records/store/seek_feature.h"

namespace infeed {

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

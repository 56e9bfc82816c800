#include "records/archives/archive_index_file.h"

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string_view>
#include <utility>
#include <vector>

#include "base/varint.h"
#include "records/bytes/payload.h"
#include "records/files/side_format.h"
#include "records/files/split_names.h"

namespace infeed {
namespace {

constexpr std::string_view kArchiveIndexMagic = "infeedAI";
constexpr std::string_view kArchiveIndexEnding = ".index";
constexpr std::size_t kImageNumbers = 5;

std::vector<std::string> TakeTexts(PayloadReader& from) {
  std::vector<std::string> texts(from.Count(1));
  for (std::string& text : texts) {
    text = from.Text();
  }
  return texts;
}

// The file may have been made by another program. end: of the archive; that of
// a compressed one is not known.
ArchiveImages::Image TakeImage(PayloadReader& from, std::int64_t end,
                               std::size_t classes) {
  ArchiveImages::Image image;
  image.offset = from.NumberUpTo(end);
  image.extent = from.NumberUpTo(end - image.offset);
  image.bytes = from.NumberUpTo(std::numeric_limits<std::int64_t>::max());
  image.class_index = static_cast<std::int32_t>(
      from.NumberUpTo(static_cast<std::int64_t>(classes)) - 1);
  image.split =
      static_cast<std::int32_t>(from.NumberUpTo(std::ssize(kSplits) - 1));
  if (image.extent == 0) {
    from.Fail();
  }
  return image;
}

std::optional<ArchiveFileIndex> ParseArchiveIndex(const SideFile& file) {
  PayloadReader from(file.payload);
  ArchiveFileIndex index;
  index.is_tar = from.NumberUpTo(1) == 1;
  index.compression = static_cast<Compression>(
      from.NumberUpTo(static_cast<std::int64_t>(Compression::kZlib)));
  index.found.has_splits = from.NumberUpTo(1) == 1;
  index.found.classes = TakeTexts(from);
  index.found.notes = TakeTexts(from);
  index.found.images.resize(from.Count(kImageNumbers));
  const std::int64_t end = index.compression == Compression::kNone
                               ? file.source.size
                               : std::numeric_limits<std::int64_t>::max();
  for (ArchiveImages::Image& image : index.found.images) {
    image = TakeImage(from, end, index.found.classes.size());
  }
  return from.IsAtEnd() ? std::optional(std::move(index)) : std::nullopt;
}

}  // namespace

std::optional<ArchiveFileIndex> FindArchiveIndex(const ByteSource& archive) {
  return FindSideFile(archive, kArchiveIndexEnding, kArchiveIndexMagic,
                      ParseArchiveIndex);
}

std::string SaveArchiveIndex(const ByteSource& archive,
                             const ArchiveFileIndex& index) {
  std::string payload;
  const auto append = [&](std::int64_t number) {
    AppendVarint(static_cast<std::uint64_t>(number), payload);
  };
  append(index.is_tar ? 1 : 0);
  append(static_cast<std::int64_t>(index.compression));
  append(index.found.has_splits ? 1 : 0);
  for (const std::vector<std::string>* texts :
       {&index.found.classes, &index.found.notes}) {
    append(std::ssize(*texts));
    for (const std::string& text : *texts) {
      AppendSizedText(payload, text);
    }
  }
  append(std::ssize(index.found.images));
  for (const ArchiveImages::Image& image : index.found.images) {
    for (const std::int64_t number :
         {image.offset, image.extent, image.bytes,
          std::int64_t{image.class_index} + 1, std::int64_t{image.split}}) {
      append(number);
    }
  }
  return SaveSideFile(archive, kArchiveIndexEnding, kArchiveIndexMagic,
                      payload);
}

}  // namespace infeed

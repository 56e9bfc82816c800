#include "records/archives/archive_index_file.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/number_bytes.h"
#include "records/bytes/payload.h"
#include "records/files/class_list.h"
#include "records/files/open_source.h"
#include "records/files/side_file.h"
#include "records/files/split_names.h"

namespace infeed {
namespace {

constexpr std::string_view kArchiveIndexMagic = "infeedAM";
constexpr std::string_view kArchiveIndexEnding = ".index";
constexpr std::size_t kImageNumbers = 5;

// A text in memory is much longer than a short one in the file, so their number
// is limited before they get any.
std::vector<std::string> TakeTexts(PayloadReader& from, std::size_t most) {
  const std::size_t count = from.Count(1);
  if (count > most) {
    from.Fail();
    return {};
  }
  std::vector<std::string> texts(count);
  for (std::string& text : texts) {
    text = from.Text();
  }
  return texts;
}

void AppendTexts(const std::vector<std::string>& texts, std::string& payload) {
  AppendVarint(texts.size(), payload);
  for (const std::string& text : texts) {
    AppendSizedText(payload, text);
  }
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
  index.found.classes = TakeTexts(from, kMostClasses);
  index.found.notes = TakeTexts(from, kMostClasses);
  index.found.images.resize(from.Count(kImageNumbers));
  const std::int64_t end = index.compression == Compression::kNone
                               ? file.source.size
                               : std::numeric_limits<std::int64_t>::max();
  for (ArchiveImages::Image& image : index.found.images) {
    image = TakeImage(from, end, index.found.classes.size());
  }
  // A class, its text, the next class.
  const std::vector<std::string> texts =
      TakeTexts(from, 2 * index.found.classes.size());
  for (std::size_t i = 1; i < texts.size(); i += 2) {
    index.found.class_texts.emplace(texts[i - 1], texts[i]);
  }
  return from.IsAtEnd() ? std::optional(std::move(index)) : std::nullopt;
}

constexpr std::string_view kMagic = "infeedTC";
constexpr std::string_view kEnding = ".index";
// Compression and end of the last sample; then the offsets, then the labels.
constexpr std::size_t kLeadingNumbers = 2;

bool AreExtents(const Numbers& offsets, std::int64_t end) {
  for (std::size_t i = 0; i < offsets.size(); ++i) {
    if (offsets[i] < 0 ||
        offsets[i] >= (i + 1 < offsets.size() ? offsets[i + 1] : end)) {
      return false;
    }
  }
  return true;
}

std::optional<TarFileIndex> Parse(const SideFile& file) {
  const Numbers numbers = ParseNumbers(file.payload).value_or(Numbers());
  if (numbers.size() < kLeadingNumbers || numbers.size() % 2 != 0 ||
      numbers[0] < 0 ||
      numbers[0] > static_cast<std::int64_t>(Compression::kZlib)) {
    return std::nullopt;
  }
  const auto samples =
      static_cast<std::ptrdiff_t>((numbers.size() - kLeadingNumbers) / 2);
  const auto offsets = numbers.begin() + kLeadingNumbers;
  TarFileIndex index = {
      .compression = static_cast<Compression>(numbers[0]),
      .samples = {.offsets = Numbers(offsets, offsets + samples),
                  .end = numbers[1],
                  .labels = Numbers(offsets + samples, numbers.end())}};
  return AreExtents(index.samples.offsets, index.samples.end)
             ? std::optional(std::move(index))
             : std::nullopt;
}

}  // namespace

std::optional<ArchiveFileIndex> FindArchiveIndex(const ByteSource& archive) {
  return FindSideFile(archive, kArchiveIndexEnding, kArchiveIndexMagic,
                      ParseArchiveIndex);
}

std::string SaveArchiveIndex(const ByteSource& archive,
                             const ArchiveFileIndex& index) {
  if (std::max(index.found.classes.size(), index.found.notes.size()) >
      kMostClasses) {
    throw IoError(PathForMessages(archive.path()) +
                  ": has too many classes for an index file");
  }
  std::string payload;
  const auto append = [&](std::int64_t number) {
    AppendVarint(static_cast<std::uint64_t>(number), payload);
  };
  append(index.is_tar ? 1 : 0);
  append(static_cast<std::int64_t>(index.compression));
  append(index.found.has_splits ? 1 : 0);
  AppendTexts(index.found.classes, payload);
  AppendTexts(index.found.notes, payload);
  append(std::ssize(index.found.images));
  for (const ArchiveImages::Image& image : index.found.images) {
    for (const std::int64_t number :
         {image.offset, image.extent, image.bytes,
          std::int64_t{image.class_index} + 1, std::int64_t{image.split}}) {
      append(number);
    }
  }
  std::vector<std::string> texts;
  for (const auto& [name, text] : index.found.class_texts) {
    texts.insert(texts.end(), {name, text});
  }
  AppendTexts(texts, payload);
  return SaveSideFile(archive, kArchiveIndexEnding, kArchiveIndexMagic,
                      payload);
}

std::optional<TarFileIndex> FindTarIndex(const ByteSource& tar) {
  return FindSideFile(tar, kEnding, kMagic, Parse);
}

std::string SaveTarIndex(const ByteSource& tar, const TarFileIndex& index) {
  std::string payload;
  AppendNumbers(payload, {{static_cast<std::int64_t>(index.compression),
                           index.samples.end}});
  AppendNumbers(payload, index.samples.offsets);
  AppendNumbers(payload, index.samples.labels);
  return SaveSideFile(tar, kEnding, kMagic, payload);
}

}  // namespace infeed

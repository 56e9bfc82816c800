#include "records/store/archive_record.h"

#include <optional>
#include <string>

#include "base/error.h"
#include "records/archives/archive_images.h"
#include "records/archives/tar_example.h"
#include "records/archives/tar_member.h"
#include "records/archives/tar_samples.h"
#include "records/archives/zip_entry.h"
#include "records/bytes/base_name.h"
#include "records/bytes/plain_text.h"
#include "records/example/builder.h"
#include "records/store/image_record.h"

namespace infeed {
namespace {

struct NamedBytes {
  std::string_view name;
  std::span<const std::byte> bytes;
};

RecordPayload ImageExample(std::int64_t label, const NamedBytes& file,
                           std::vector<std::byte>& buffer) {
  const std::string name = ArchiveName(file.name);
  return {.bytes = WriteExample(
              BuildExampleParts({.label = label,
                                 .synset = {},
                                 .text = {},
                                 .filename = std::string(BaseName(name)),
                                 .encoded = AsChars(file.bytes)}),
              buffer)};
}

RecordPayload TarExample(std::int64_t label, std::span<const std::byte> extent,
                         std::vector<std::byte>& buffer) {
  const std::optional<TarMember> member = TarWalk(BytesOf(extent), "").Next();
  if (!member || member->kind != TarKind::kFile ||
      member->end != std::ssize(extent)) {
    throw DataError("the file changed after it was indexed: no image is here");
  }
  return ImageExample(
      label,
      {member->name, extent.subspan(static_cast<std::size_t>(member->data),
                                    static_cast<std::size_t>(member->bytes))},
      buffer);
}

}  // namespace

RecordPayload MakeArchiveExample(const RecordIndex& index, std::int64_t record,
                                 std::span<const std::byte> extent,
                                 std::string_view image_key,
                                 std::vector<std::byte>& buffer) {
  const auto shard = static_cast<std::size_t>(index.at(record).shard);
  if (index.format(shard) == RecordFormat::kZip) {
    std::vector<std::byte> inflated;
    const ZipFile file = ReadZipEntry(extent, kMaxImageFileBytes, inflated);
    return ImageExample(index.label(record), {file.name, file.bytes}, buffer);
  }
  if (index.format(shard) == RecordFormat::kTarTree) {
    return TarExample(index.label(record), extent, buffer);
  }
  return {.bytes = BuildTarExample(ParseTarSample(extent), buffer, image_key)};
}

}  // namespace infeed

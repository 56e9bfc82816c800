#include "records/store/archive_record.h"

#include <string_view>

#include "base/error.h"
#include "records/archives/tar_example.h"
#include "records/archives/tar_samples.h"
#include "records/archives/zip_entry.h"
#include "records/bytes/base_name.h"
#include "records/example/builder.h"
#include "records/store/image_record.h"

namespace infeed {
namespace {

RecordPayload ZipExample(std::int64_t label, std::span<const std::byte> extent,
                         std::vector<std::byte>& buffer) {
  std::vector<std::byte> inflated;
  const ZipFile file = ReadZipEntry(extent, kMaxImageFileBytes, inflated);
  return {.bytes = WriteExample(
              BuildExampleParts(
                  {.label = label,
                   .synset = {},
                   .text = {},
                   .filename = std::string(BaseName(file.name)),
                   .encoded = {reinterpret_cast<const char*>(file.bytes.data()),
                               file.bytes.size()}}),
              buffer)};
}

}  // namespace

RecordPayload MakeArchiveExample(const RecordIndex& index, std::int64_t record,
                                 std::span<const std::byte> extent,
                                 std::string_view image_key,
                                 std::vector<std::byte>& buffer) {
  const auto shard = static_cast<std::size_t>(index.at(record).shard);
  if (index.format(shard) == RecordFormat::kZip) {
    return ZipExample(index.label(record), extent, buffer);
  }
  return {.bytes = BuildTarExample(ParseTarSample(extent), buffer, image_key)};
}

}  // namespace infeed

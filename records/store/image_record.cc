#include "records/store/image_record.h"

#include <cerrno>
#include <memory>
#include <optional>
#include <string>
#include <system_error>

#include "base/error.h"
#include "records/archives/archive_images.h"
#include "records/archives/tar_example.h"
#include "records/archives/tar_member.h"
#include "records/archives/tar_samples.h"
#include "records/archives/zip_entry.h"
#include "records/bytes/byte_source.h"
#include "records/bytes/plain_text.h"
#include "records/example/builder.h"
#include "records/files/open_source.h"

namespace infeed {
namespace {

// Throws IoError, and DataError without an origin.
std::string ReadBytes(const std::string& path, std::int64_t listed_bytes) {
  if (listed_bytes > kMaxImageFileBytes) {
    throw DataError("the file is too long for an image");
  }
  const std::unique_ptr<ByteSource> file = OpenSource(path);
  std::string bytes(static_cast<std::size_t>(listed_bytes), '\0');
  const std::size_t read =
      file->ReadAt(0, std::as_writable_bytes(std::span(bytes)));
  if (file->size() != listed_bytes || read != bytes.size()) {
    throw DataError("the file changed after it was listed");
  }
  return bytes;
}

// Whether the error is a lack of process resources, not a fault of the file.
bool IsOfProcess(const IoError& error) {
  const int value = error.errno_value();
  return value == EMFILE || value == ENFILE || value == ENOMEM;
}

// Reads an image file; one that cannot be read is a bad record (DataError).
std::string ReadImage(const std::string& path, std::int64_t listed_bytes) {
  try {
    return ReadBytes(path, listed_bytes);
  } catch (const StoppedError&) {
    throw;
  } catch (const IoError& error) {
    if (IsOfProcess(error)) {
      throw;
    }
    throw DataError({PathForMessages(path), -1, -1},
                    error.errno_value() == 0
                        ? error.what()
                        : "cannot read: " + std::generic_category().message(
                                                error.errno_value()));
  } catch (const DataError& error) {
    throw error.At({PathForMessages(path), -1, -1});
  }
}

RecordPayload ImageExample(std::int64_t label, const std::string& filename,
                           std::string_view encoded,
                           std::vector<std::byte>& buffer) {
  return {.bytes = WriteExample(BuildExampleParts({.label = label,
                                                   .synset = {},
                                                   .text = {},
                                                   .filename = filename,
                                                   .encoded = encoded}),
                                buffer)};
}

std::string FileNameIn(std::string_view archive_name) {
  return std::string(BaseName(ArchiveName(archive_name)));
}

RecordPayload TarExample(std::int64_t label, std::span<const std::byte> extent,
                         std::vector<std::byte>& buffer) {
  const std::optional<TarMember> member = TarWalk(BytesOf(extent), "").Next();
  if (member && member->kind == TarKind::kSparse) {
    throw DataError(FileNameIn(member->name) + " " + std::string(kSparseFault));
  }
  if (!member || member->kind != TarKind::kFile ||
      member->end != std::ssize(extent)) {
    throw DataError("the file changed after it was indexed: no image is here");
  }
  return ImageExample(
      label, FileNameIn(member->name),
      AsChars(extent.subspan(static_cast<std::size_t>(member->data),
                             static_cast<std::size_t>(member->bytes))),
      buffer);
}

}  // namespace

RecordPayload ReadImageRecord(const RecordIndex& index, std::int64_t record,
                              std::vector<std::byte>& buffer) {
  const RecordLocation location = index.at(record);
  const std::string& path = index.shard_of(location);
  const std::string encoded = ReadImage(path, location.length);
  return ImageExample(index.label(record), FileNameOf(path), encoded, buffer);
}

RecordPayload MakeArchiveExample(const RecordIndex& index, std::int64_t record,
                                 std::span<const std::byte> extent,
                                 std::string_view image_key,
                                 std::vector<std::byte>& buffer) {
  const auto shard = static_cast<std::size_t>(index.at(record).shard);
  if (index.format(shard) == RecordFormat::kZip) {
    std::vector<std::byte> inflated;
    const ZipFile file = ReadZipEntry(extent, kMaxImageFileBytes, inflated);
    RecordPayload payload =
        ImageExample(index.label(record), FileNameIn(file.name),
                     AsChars(file.bytes), buffer);
    payload.stored_crc = file.crc32;
    return payload;
  }
  if (index.format(shard) == RecordFormat::kTarTree) {
    return TarExample(index.label(record), extent, buffer);
  }
  return {.bytes = BuildTarExample(ParseTarSample(extent), buffer, image_key,
                                   index.label(record))};
}

}  // namespace infeed

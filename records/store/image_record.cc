#include "records/store/image_record.h"

#include <cerrno>
#include <memory>
#include <span>
#include <string>
#include <system_error>

#include "base/error.h"
#include "records/bytes/byte_source.h"
#include "records/bytes/stopped_error.h"
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

}  // namespace

RecordPayload ReadImageRecord(const RecordIndex& index, std::int64_t record,
                              std::vector<std::byte>& buffer) {
  const RecordLocation location = index.at(record);
  const std::string& path = index.shard_of(location);
  const std::string encoded = ReadImage(path, location.length);
  return {.bytes = WriteExample(BuildExampleParts({.label = index.label(record),
                                                   .synset = {},
                                                   .text = {},
                                                   .filename = FileNameOf(path),
                                                   .encoded = encoded}),
                                buffer)};
}

}  // namespace infeed

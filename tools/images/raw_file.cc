#include "tools/images/raw_file.h"

#include <cstddef>
#include <span>
#include <utility>

#include "base/error.h"
#include "records/files/open_source.h"

namespace infeed {
namespace {

constexpr std::int64_t kMaxFetchedBytes = std::int64_t{256} << 20;

}  // namespace

RawFile OpenRawFile(const std::string& path) {
  std::shared_ptr<const ByteSource> source = OpenSource(path);
  const std::int64_t version = source->version();
  if (IsUrl(path) && source->size() <= kMaxFetchedBytes) {
    std::string bytes(static_cast<std::size_t>(source->size()), '\0');
    (void)source->ReadAt(0, std::as_writable_bytes(std::span(bytes)));
    source = std::make_shared<MemorySource>(source->path(), std::move(bytes));
  }
  return {std::move(source), version};
}

std::vector<std::byte> ReadBytes(const ByteSource& source, std::int64_t offset,
                                 std::int64_t count) {
  std::vector<std::byte> bytes(static_cast<std::size_t>(count));
  if (source.ReadAt(offset, bytes) != bytes.size()) {
    throw IoError(source.path() + ": is shorter than it was a moment ago");
  }
  return bytes;
}

}  // namespace infeed

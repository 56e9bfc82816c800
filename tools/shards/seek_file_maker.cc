#include "tools/shards/seek_file_maker.h"

#include <algorithm>
#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "base/error.h"
#include "records/example/imagenet_example.h"
#include "records/store/seek_file.h"
#include "records/tfrecord/format.h"

namespace infeed {
namespace {

// Read-ahead for a shard in an object store.
constexpr std::int64_t kAheadBytes = std::int64_t{8} << 20;

bool HasSeekFile(const ByteSource& shard, const FrameOffsets& offsets,
                 SeekEntries entries) {
  const auto file = SeekFile::Find(shard.path(), shard.size(),
                                   static_cast<std::int64_t>(offsets.size()));
  return file && file->info().shard_version == shard.version() &&
         file->info().run == SeekRun(entries);
}

// Reads the record between two offsets; nullopt when it is damaged.
std::optional<ImagenetExampleView> ReadExample(const ByteSource& shard,
                                               std::int64_t begin,
                                               std::int64_t end,
                                               std::vector<std::byte>& buffer) {
  const auto bytes = static_cast<std::size_t>(end - begin);
  buffer.resize(std::max(buffer.size(), bytes));
  const auto frame = std::span(buffer).first(bytes);
  if (shard.ReadAt(begin, frame) != bytes || !HasFrameHeader(frame)) {
    return std::nullopt;
  }
  const auto body = frame.subspan(kFrameHeaderBytes);
  if (ClaimedLength(frame) != body.size() - kFrameFooterBytes ||
      !IsPayloadGood(body)) {
    return std::nullopt;
  }
  try {
    return ParseImagenetExample(body.first(body.size() - kFrameFooterBytes));
  } catch (const DataError&) {  // `records verify` reports the error.
    return std::nullopt;
  }
}

}  // namespace

MadeSeekFile MakeSeekFile(const ByteSource& shard, const FrameOffsets& offsets,
                          const SeekFileOptions& options) {
  MadeSeekFile made;
  made.was_there =
      !options.force && HasSeekFile(shard, offsets, options.entries);
  if (made.was_there || options.dry_run) {
    return made;
  }
  SeekFileWriter writer(shard, SeekRun(options.entries));
  std::vector<std::byte> buffer;
  for (std::size_t i = 0; i < offsets.size(); ++i) {
    options.on_record();
    const std::int64_t end =
        i + 1 < offsets.size() ? offsets[i + 1] : shard.size();
    shard.WillRead(offsets[i],
                   std::min(kAheadBytes, shard.size() - offsets[i]));
    const auto example = ReadExample(shard, offsets[i], end, buffer);
    const bool has_own = example && !example->seek_index.empty();
    const std::string sealed =
        example && !has_own
            ? MakeSealedSeekIndex(example->encoded, options.entries)
            : "";
    made.own += has_own ? 1 : 0;
    made.indexed += sealed.empty() ? 0 : 1;
    writer.Append(sealed);
  }
  writer.Close();
  made.path = writer.path();
  return made;
}

}  // namespace infeed

#include "tools/shards/seek_file_maker.h"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <vector>

#include "base/error.h"
#include "records/store/record_store.h"
#include "records/store/seek_file.h"

namespace infeed {
namespace {

// Read-ahead for a shard in an object store.
constexpr std::int64_t kAheadRecords = 64;

void WillReadFrom(const RecordStore& store, std::int64_t first,
                  std::int64_t records) {
  std::vector<std::int64_t> next(
      static_cast<std::size_t>(std::min(kAheadRecords, records - first)));
  std::iota(next.begin(), next.end(), first);
  store.WillRead(next);
}

bool HasSeekFile(const ByteSource& shard, const RecordIndex& index,
                 const SeekFileOptions& options) {
  const auto file = SeekFile::Find(shard.path(), shard.size(), index.size(),
                                   options.image_key);
  return file && file->info().shard_version == shard.version() &&
         file->info().run == SeekRun(options.entries);
}

// A damaged record, or one without a JPEG that can have an index, gets an empty
// entry.
void AppendEntries(const RecordIndex& index, const SeekFileOptions& options,
                   SeekFileWriter& writer, MadeSeekFile& made) {
  const RecordStore store(index, {.image_key = options.image_key});
  std::vector<std::byte> buffer;
  for (std::int64_t record = 0; record < index.size(); ++record) {
    options.on_record();
    if (record % kAheadRecords == 0) {
      WillReadFrom(store, record, index.size());
    }
    std::string sealed;
    try {
      const ImagenetExampleView example =
          ParseImagenetExample(store.Read(record, buffer), LabelList::kAny,
                               {.image = options.image_key});
      made.own += example.seek_index.empty() ? 0 : 1;
      sealed = example.seek_index.empty()
                   ? MakeSealedSeekIndex(example.encoded, options.entries)
                   : "";
    } catch (const DataError&) {  // `records verify` reports the error.
    }
    made.indexed += sealed.empty() ? 0 : 1;
    writer.Append(sealed);
  }
  writer.Close();
  made.path = writer.path();
}

}  // namespace

MadeSeekFile MakeSeekFile(const ByteSource& shard,
                          const SeekFileOptions& options) {
  MadeSeekFile made;
  if (options.dry_run) {
    return made;
  }
  const RecordIndex index({shard.path()});
  made.was_there = !options.force && HasSeekFile(shard, index, options);
  if (!made.was_there) {
    SeekFileWriter writer(shard, SeekRun(options.entries), options.image_key);
    AppendEntries(index, options, writer, made);
  }
  return made;
}

MadeSeekFile MakeSeekFileOfImages(const RecordIndex& images,
                                  const SeekFileOptions& options) {
  MadeSeekFile made;
  const auto kept = SeekFile::FindOfImages(images);
  made.was_there = !options.force && kept != nullptr &&
                   kept->info().run == SeekRun(options.entries);
  if (!made.was_there && !options.dry_run) {
    SeekFileWriter writer(images, SeekRun(options.entries));
    AppendEntries(images, options, writer, made);
  }
  return made;
}

}  // namespace infeed

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>

#include "base/atomic_file.h"
#include "base/error.h"
#include "records/archives/archive_index_file.h"
#include "records/files/side_file.h"
#include "records/store/dali_index.h"
#include "records/tfrecord/index_file.h"
#include "tests/support/record_file.h"
#include "tests/support/temporary_folder.h"

// Any bytes as an index file, ours and DALI's, and as the payload of ours: what
// is taken must be the shard's frames, or frames that could be.
namespace infeed {
namespace {

class Shard {
 public:
  Shard() { MakeFolder(folder_ / ".infeed"); }

  [[nodiscard]] FileSource source() const { return FileSource(path_); }
  [[nodiscard]] std::string index_path() const {
    return folder_ / ".infeed/train-00000-of-00001.index";
  }

 private:
  const TemporaryFolder folder_;
  const std::string path_ = RecordFile().Add("a").Add("hello").Add("").Write(
      folder_ / "train-00000-of-00001");
};

void CheckFrames(const Shard& shard) {
  const FileSource source = shard.source();
  const std::optional<FrameOffsets> hint = FindIndexHint(source);
  const std::optional<FrameOffsets> found = FindIndex(source);
  Check(!found || found == hint, "an index that fits is a hint, too");
  for (std::size_t i = 1; hint && i < hint->size(); ++i) {
    Check((*hint)[i] >= (*hint)[i - 1] + 16, "frames do not overlap");
  }
  const std::optional<ShardFrames> frames = FindFrames(source);
  Check(!frames || frames->offsets.empty() ||
            frames->offsets.back() + 16 <= frames->stream_bytes,
        "the frames of any shard end with its stream");
}

void CheckTar(const Shard& shard) {
  const std::optional<TarFileIndex> tar = FindTarIndex(shard.source());
  Check(!tar || tar->samples.labels.size() == tar->samples.offsets.size(),
        "a label for each sample");
}

void CheckArchive(const Shard& shard) {
  const FileSource source = shard.source();
  const std::optional<ArchiveFileIndex> archive = FindArchiveIndex(source);
  if (!archive || archive->compression != Compression::kNone) {
    return;
  }
  for (const ArchiveImages::Image& image : archive->found.images) {
    Check(image.offset + image.extent <= source.size() &&
              image.class_index < std::ssize(archive->found.classes),
          "an image is in the archive and in a class");
  }
}

void CheckOurs(const Shard& shard, std::string_view bytes) {
  WriteFileAtomically(shard.index_path(), bytes);
  CheckFrames(shard);
  const SideSource source = SideSource::Of(shard.source());
  WriteSideFile(shard.index_path(), "infeedIX", source, bytes);
  CheckFrames(shard);
  WriteSideFile(shard.index_path(), "infeedTC", source, bytes);
  CheckTar(shard);
  WriteSideFile(shard.index_path(), "infeedAM", source, bytes);
  CheckArchive(shard);
}

void CheckDali(const Shard& shard, std::string_view bytes) {
  const FileSource source = shard.source();
  try {
    Check(ParseDaliIndex(bytes, "i", source) == ScanFrames(source, 100),
          "what is taken is what the shard has");
  } catch (const DataError&) {
    return;
  }
}

}  // namespace
}  // namespace infeed

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data,
                                      std::size_t size) {
  static const infeed::Shard shard;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  infeed::CheckOurs(shard, bytes);
  infeed::CheckDali(shard, bytes);
  return 0;
}

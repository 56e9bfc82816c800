#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/atomic_file.h"
#include "base/error.h"
#include "records/store/dali_index.h"
#include "records/tfrecord/index_file.h"
#include "tests/support/record_file.h"
#include "tests/support/temporary_folder.h"

// Any bytes as an index file, ours and DALI's: what is taken must be the
// shard's frames, or frames that could be.
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

void CheckOurs(const Shard& shard, std::string_view bytes) {
  const FileSource source = shard.source();
  WriteFileAtomically(shard.index_path(), bytes);
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

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "records/bytes/byte_source.h"
#include "records/tfrecord/compression.h"
#include "records/tfrecord/format.h"
#include "records/tfrecord/index_file.h"
#include "records/tfrecord/reader.h"
#include "tests/support/bytes.h"
#include "tests/support/read_payloads.h"

// Any bytes as a TFRecord file: whatever is delivered must be what is in the
// file, with any buffer, and the index must see the same frames.
namespace infeed {
namespace {

// A file in memory that the readers open by its path.
class MemoryFile {
 public:
  MemoryFile() : descriptor_(::memfd_create("fuzz", MFD_CLOEXEC)) {
    Check(descriptor_ >= 0, "a file in memory can be made");
  }
  ~MemoryFile() { ::close(descriptor_); }
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;

  void Fill(std::string_view bytes) const {
    Check(::ftruncate(descriptor_, 0) == 0 &&
              ::pwrite(descriptor_, bytes.data(), bytes.size(), 0) ==
                  static_cast<ssize_t>(bytes.size()),
          "memory can be written");
  }
  [[nodiscard]] std::string path() const {
    return "/proc/self/fd/" + std::to_string(descriptor_);
  }

 private:
  int descriptor_;
};

struct Pass {
  std::vector<std::string> payloads;
  std::vector<std::int64_t> offsets;
  std::vector<std::string> errors;
  std::int64_t lost_bytes = 0;
};

Pass ReadAll(const std::string& path, const TfrecordReaderOptions& options) {
  TfrecordReader reader(path, options);
  Pass pass;
  ReadPastErrors(
      reader,
      [&](const Record& record) {
        pass.payloads.push_back(AsText(record.payload));
        pass.offsets.push_back(record.offset);
      },
      [&](const DataError& error) { pass.errors.emplace_back(error.what()); });
  for (const Gap& gap : reader.gaps()) {
    pass.lost_bytes += gap.bytes;
  }
  return pass;
}

bool IsPacked(std::string_view bytes) {
  return DetectCompression(AsBytes(bytes.substr(0, kFrameHeaderBytes))) !=
         Compression::kNone;
}

// Of plain files: each record stands in the file. Returns their bytes.
std::int64_t CheckRecords(const Pass& pass, std::string_view bytes) {
  std::int64_t delivered = 0;
  for (std::size_t i = 0; i < pass.payloads.size(); ++i) {
    std::string frame;
    AppendFrame(frame, pass.payloads[i]);
    Check(bytes.substr(static_cast<std::size_t>(pass.offsets[i]))
              .starts_with(frame),
          "a record is what stands in the file");
    delivered += static_cast<std::int64_t>(frame.size());
  }
  return delivered;
}

// Going on after damage loses nothing that stopping there delivers, and counts
// every byte.
void CheckResynchronising(const MemoryFile& file, std::string_view bytes,
                          const Pass& stopped) {
  const Pass pass = ReadAll(file.path(), {.resynchronise = true});
  const Pass small =
      ReadAll(file.path(), {.buffer_bytes = 16, .resynchronise = true});
  Check(small.payloads == pass.payloads && small.errors == pass.errors,
        "the buffer's size changes nothing");
  auto next = pass.offsets.begin();
  for (const std::int64_t offset : stopped.offsets) {
    next = std::find(next, pass.offsets.end(), offset);
    Check(next != pass.offsets.end(), "going on loses no record");
  }
  if (!IsPacked(bytes)) {
    Check(CheckRecords(pass, bytes) + pass.lost_bytes ==
              static_cast<std::int64_t>(bytes.size()),
          "every byte is delivered or lost");
  }
}

void CheckFile(const MemoryFile& file, std::string_view bytes) {
  file.Fill(bytes);
  const Pass pass = ReadAll(file.path(), {});
  CheckResynchronising(file, bytes, pass);
  if (IsPacked(bytes)) {
    return;
  }
  (void)CheckRecords(pass, bytes);
  const Pass small = ReadAll(file.path(), {.buffer_bytes = 16});
  Check(small.payloads == pass.payloads && small.errors == pass.errors,
        "the buffer's size changes nothing");
  const Pass frames = ReadAll(file.path(), {.verify_checksums = false});
  const FileSource source(file.path());
  try {
    const FrameOffsets offsets =
        ScanFrames(source, TfrecordReaderOptions().max_record_bytes);
    Check(frames.errors.empty() && offsets == frames.offsets,
          "the index has the reader's frames");
  } catch (const DataError& error) {
    Check(frames.errors == std::vector<std::string>{error.what()},
          "the index has the reader's error");
  }
}

}  // namespace
}  // namespace infeed

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data,
                                      std::size_t size) {
  static const infeed::MemoryFile file;
  const std::string bytes(reinterpret_cast<const char*>(data), size);
  infeed::CheckFile(file, bytes);
  // Behind a good frame, so that there is something before the damage.
  std::string framed;
  infeed::AppendFrame(framed, bytes);
  infeed::CheckFile(file, framed + bytes);
  return 0;
}

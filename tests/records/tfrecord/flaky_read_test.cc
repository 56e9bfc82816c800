// Reads that the system interrupts, answers in part or refuses: this program
// has its own pread().

#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <optional>
#include <string>

#include "base/error.h"
#include "records/tfrecord/reader.h"
#include "tests/support/matchers.h"
#include "tests/support/record_file.h"
#include "tests/support/temporary_folder.h"

namespace {

struct Faults {
  int interrupts = 0;       // EINTR so many times before each read
  std::size_t at_most = 0;  // bytes of a read; 0: all
  int good_reads = -1;      // then EIO; never when negative
  int interrupts_left = 0;
  int reads = 0;
};
Faults faults;

}  // namespace

extern "C" ssize_t pread(int descriptor, void* bytes, std::size_t count,
                         off_t offset) {
  if (faults.interrupts_left-- > 0) {
    errno = EINTR;
    return -1;
  }
  faults.interrupts_left = faults.interrupts;
  if (faults.good_reads >= 0 && faults.reads >= faults.good_reads) {
    errno = EIO;
    return -1;
  }
  ++faults.reads;
  if (faults.at_most > 0) {
    count = std::min(count, faults.at_most);
  }
  return ::syscall(SYS_pread64, descriptor, bytes, count, offset);
}

namespace infeed {
namespace {

class FlakyReadTest : public ::testing::Test {
 protected:
  FlakyReadTest() {
    RecordFile file;
    for (int i = 0; i < 50; ++i) {
      expected_ += std::string(static_cast<std::size_t>(i * 3), 'a') + "|";
      file.Add(std::string(static_cast<std::size_t>(i * 3), 'a'));
    }
    file.Write(path_);
  }
  ~FlakyReadTest() override { faults = {}; }

  std::string Read() {
    TfrecordReader reader(path_, {.buffer_bytes = 100});
    std::string all;
    while (const std::optional<Record> record = reader.Next()) {
      all += AsText(record->payload) + "|";
    }
    return all;
  }

  const TemporaryFolder folder_;
  const std::string path_ = folder_ / "f";
  std::string expected_;
};

TEST_F(FlakyReadTest, GoesOnAfterSignals) {
  faults = {.interrupts = 3};
  EXPECT_EQ(Read(), expected_);
  EXPECT_GT(faults.reads, 10);
}

TEST_F(FlakyReadTest, GoesOnAfterShortReads) {
  for (const std::size_t bytes : {1, 7, 64}) {
    faults = {.at_most = bytes};
    EXPECT_EQ(Read(), expected_);
  }
}

TEST_F(FlakyReadTest, NamesTheFileThatCannotBeRead) {
  for (int good = 0; good < 20; ++good) {
    faults = {.good_reads = good};
    EXPECT_THAT([&] { Read(); }, ThrowsMessage<IoError>(HasSubstr(
                                     path_ + ": cannot read: Input/output")));
  }
}

}  // namespace
}  // namespace infeed

// Ten thousand ways to damage a shard. Nothing crashes, nothing hangs, memory
// stays small, nothing is delivered that was not written, and every record
// whose frame is still whole is delivered, in the file's order.

#include <malloc.h>
#include <time.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <memory>
#include <new>
#include <random>
#include <string>
#include <vector>

#include "base/error.h"
#include "records/bytes/byte_source.h"
#include "records/tfrecord/reader.h"
#include "tests/support/read_payloads.h"
#include "tests/support/record_file.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace {

// Bytes that this program has on the heap.
std::atomic<std::int64_t> heap_bytes = 0;
std::atomic<std::int64_t> heap_peak = 0;

}  // namespace

// NOLINTBEGIN(*-no-malloc): these are what others call.
void* operator new(std::size_t size) {
  void* const memory = std::malloc(size);
  if (memory == nullptr) {
    throw std::bad_alloc();
  }
  const auto bytes = static_cast<std::int64_t>(::malloc_usable_size(memory));
  const std::int64_t now = heap_bytes += bytes;
  if (now > heap_peak) {
    heap_peak = now;
  }
  return memory;
}

void operator delete(void* memory) noexcept {
  heap_bytes -= static_cast<std::int64_t>(::malloc_usable_size(memory));
  std::free(memory);
}

void operator delete(void* memory, std::size_t /*size*/) noexcept {
  operator delete(memory);
}
// NOLINTEND(*-no-malloc)

namespace infeed {
namespace {

constexpr std::int64_t kMaxRecordBytes = std::int64_t{1} << 20;
constexpr std::int64_t kMemoryLimit = std::int64_t{8} << 20;
constexpr double kMaxSeconds = 1;  // of the processor, for one file

// A part of a damaged file: bytes of the undamaged one, or foreign ones.
struct Piece {
  std::size_t begin = 0;
  std::size_t end = 0;
  std::string foreign = {};
};
using Pieces = std::vector<Piece>;

class Shard {
 public:
  Shard() {
    for (int i = 0; i < 60; ++i) {
      payloads_.push_back(Payload(random_() % (i % 7 == 0 ? 3000 : 300)));
      begins_.push_back(file_.bytes().size());
      file_.Add(payloads_.back());
    }
    begins_.push_back(file_.bytes().size());
  }

  [[nodiscard]] std::size_t size() const { return file_.bytes().size(); }
  [[nodiscard]] std::size_t begin(std::size_t record) const {
    return begins_[record];
  }
  [[nodiscard]] std::size_t records() const { return payloads_.size(); }

  [[nodiscard]] std::string Damaged(const Pieces& pieces) const {
    std::string bytes;
    for (const Piece& piece : pieces) {
      bytes += file_.bytes().substr(piece.begin, piece.end - piece.begin);
      bytes += piece.foreign;
    }
    return bytes;
  }

  // The records whose frames are whole in one of the pieces, in their order.
  [[nodiscard]] std::vector<std::string> Whole(const Pieces& pieces) const {
    std::vector<std::string> whole;
    for (const Piece& piece : pieces) {
      for (std::size_t i = 0; i < payloads_.size(); ++i) {
        if (begins_[i] >= piece.begin && begins_[i + 1] <= piece.end) {
          whole.push_back(payloads_[i]);
        }
      }
    }
    return whole;
  }

  [[nodiscard]] bool Has(const std::string& payload) const {
    return std::find(payloads_.begin(), payloads_.end(), payload) !=
           payloads_.end();
  }

 private:
  std::string Payload(std::size_t size) {
    std::string payload(size, '\0');
    for (char& byte : payload) {
      // Many zeros, as real records have.
      byte = random_() % 3 == 0 ? '\0' : static_cast<char>(random_());
    }
    return payload;
  }

  std::mt19937 random_{7};  // NOLINT(*-msc51-cpp): the same in every run
  RecordFile file_;
  std::vector<std::string> payloads_;
  std::vector<std::size_t> begins_;
};

double CpuSeconds() {
  timespec now{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) +
         static_cast<double>(now.tv_nsec) * 1e-9;
}

class TfrecordDamageTest : public ::testing::Test {
 protected:
  // Reads the damaged file and checks all that is promised.
  void Expect(const Pieces& pieces, const std::string& what) {
    const std::string bytes = shard_.Damaged(pieces);
    const std::vector<std::string> whole = shard_.Whole(pieces);
    const double start = CpuSeconds();
    heap_peak = heap_bytes.load();
    const std::int64_t before = heap_bytes;
    const std::vector<std::string> seen = Read(bytes);
    EXPECT_LT(heap_peak - before, kMemoryLimit) << what;
    EXPECT_LT(CpuSeconds() - start, kMaxSeconds) << what;
    // Further records were put together by chance from pieces that fit; they
    // were written, too.
    auto next = whole.begin();
    for (const std::string& payload : seen) {
      EXPECT_TRUE(shard_.Has(payload)) << what;
      if (next != whole.end() && *next == payload) {
        ++next;
      }
    }
    EXPECT_EQ(whole.end() - next, 0) << what << ": records are missing";
    ++mutations_;
  }

  static std::vector<std::string> Read(const std::string& bytes) {
    TfrecordReader reader(std::make_unique<MemorySource>("m", bytes),
                          {.max_record_bytes = kMaxRecordBytes,
                           .buffer_bytes = 4096,
                           .resynchronise = true});
    std::vector<std::string> seen;
    std::size_t counted = 0;
    ReadPastErrors(
        reader,
        [&](const Record& record) {
          seen.push_back(AsText(record.payload));
          counted += record.payload.size() + kFrameOverheadBytes;
        },
        [](const DataError& error) {
          EXPECT_EQ(error.origin().path, "m");
          EXPECT_GE(error.origin().offset, 0);
        });
    for (const Gap& gap : reader.gaps()) {
      counted += static_cast<std::size_t>(gap.bytes);
    }
    EXPECT_EQ(counted, bytes.size())
        << "every byte is delivered or counted as lost";
    return seen;
  }

  std::size_t Below(std::size_t limit) { return random_() % limit; }

  // Two different places of the file, in order.
  std::pair<std::size_t, std::size_t> Range() {
    const std::size_t a = Below(shard_.size());
    const std::size_t b = Below(2) == 0
                              ? Below(shard_.size())
                              : std::min(a + Below(100) + 1, shard_.size());
    return std::minmax(a, a == b ? b + 1 : b);
  }

  const Shard shard_;
  std::mt19937 random_{11};  // NOLINT(*-msc51-cpp): the same in every run
  int mutations_ = 0;
};

TEST_F(TfrecordDamageTest, BitFlips) {
  for (int i = 0; i < 3000; ++i) {
    std::vector<std::size_t> places(1 + i % 5);
    std::generate(places.begin(), places.end(),
                  [&] { return Below(shard_.size()); });
    std::sort(places.begin(), places.end());
    Pieces pieces;
    std::size_t begin = 0;
    for (const std::size_t place : places) {
      if (place < begin) {
        continue;
      }
      const std::string byte = shard_.Damaged({{place, place + 1}});
      pieces.push_back({begin, place});
      pieces.push_back({0, 0, {static_cast<char>(byte[0] ^ (1 << Below(8)))}});
      begin = place + 1;
    }
    pieces.push_back({begin, shard_.size()});
    Expect(pieces, "flips " + std::to_string(i));
  }
  EXPECT_EQ(mutations_, 3000);
}

TEST_F(TfrecordDamageTest, TruncationAtEveryByteOfARecord) {
  for (const std::size_t record :
       {std::size_t{0}, shard_.records() / 2, shard_.records() - 1}) {
    for (std::size_t end = shard_.begin(record);
         end <= shard_.begin(record + 1); ++end) {
      Expect({{0, end}}, "cut at " + std::to_string(end));
    }
  }
  EXPECT_GT(mutations_, 300);
}

TEST_F(TfrecordDamageTest, LengthsThatCannotBe) {
  for (std::size_t record = 0; record < shard_.records(); ++record) {
    const std::uint64_t length =
        shard_.begin(record + 1) - shard_.begin(record) - kFrameOverheadBytes;
    for (const std::uint64_t claimed :
         {std::uint64_t{0}, length + 1, length - 1, length + 16,
          std::uint64_t{shard_.size()}, std::uint64_t{kMaxRecordBytes},
          std::uint64_t{1} << 62, std::uint64_t{1} << 63,
          std::numeric_limits<std::uint64_t>::max()}) {
      if (claimed == length) {
        continue;
      }
      const std::string good = RecordFile().AddHeader(claimed).bytes();
      const std::size_t begin = shard_.begin(record);
      // With a checksum that holds, and with that of the true length.
      Expect({{0, begin}, {0, 0, good}, {begin + 12, shard_.size()}},
             "length " + std::to_string(claimed));
      Expect(
          {{0, begin}, {0, 0, good.substr(0, 8)}, {begin + 8, shard_.size()}},
          "length " + std::to_string(claimed) + ", bad checksum");
    }
  }
  EXPECT_GT(mutations_, 900);
}

TEST_F(TfrecordDamageTest, RangesOfZerosAndGarbage) {
  for (int i = 0; i < 2000; ++i) {
    const auto [begin, end] = Range();
    std::string foreign(end - begin, '\0');
    if (i % 2 == 1) {
      std::generate(foreign.begin(), foreign.end(),
                    [&] { return static_cast<char>(random_()); });
    }
    Expect({{0, begin}, {0, 0, foreign}, {end, shard_.size()}},
           "fill " + std::to_string(begin) + ".." + std::to_string(end));
  }
}

TEST_F(TfrecordDamageTest, MissingAndInsertedBytes) {
  for (int i = 0; i < 1500; ++i) {
    const auto [begin, end] = Range();
    Expect({{0, begin}, {end, shard_.size()}},
           "missing " + std::to_string(begin) + ".." + std::to_string(end));
    Expect({{0, begin},
            {0, 0, std::string(1 + Below(5000), static_cast<char>(i))},
            {begin, shard_.size()}},
           "inserted at " + std::to_string(begin));
  }
}

TEST_F(TfrecordDamageTest, SwappedBlocks) {
  for (int i = 0; i < 1000; ++i) {
    std::array<std::size_t, 4> cuts;
    std::generate(cuts.begin(), cuts.end(),
                  [&] { return Below(shard_.size() + 1); });
    std::sort(cuts.begin(), cuts.end());
    Expect({{0, cuts[0]},
            {cuts[2], cuts[3]},
            {cuts[1], cuts[2]},
            {cuts[0], cuts[1]},
            {cuts[3], shard_.size()}},
           "swap " + std::to_string(i));
  }
}

TEST_F(TfrecordDamageTest, TrailingGarbage) {
  for (int i = 0; i < 1000; ++i) {
    std::string garbage(1 + Below(2000), '\0');
    std::generate(garbage.begin(), garbage.end(), [&] {
      return i % 2 == 0 ? '\0' : static_cast<char>(random_());
    });
    Expect({{0, shard_.size()}, {0, 0, garbage}}, "tail " + std::to_string(i));
  }
}

}  // namespace
}  // namespace infeed

#include "preprocess/jpeg_entropy/entropy.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/random.h"
#include "preprocess/pixels/simd_target.h"
#include "tests/support/entropy_targets.h"
#include "tests/support/jpeg_coefficients.h"
#include "tests/support/test_jpeg.h"

namespace infeed {
namespace {

constexpr int kMark = 0x5A;  // where nothing may be written

// Coefficients and their ends, with the slack behind and a mark behind
// that.
class Blocks {
 public:
  explicit Blocks(int blocks)
      : blocks_(blocks),
        coefficients_(64 * (blocks + kRunSlackBlocks) + 1, kMark),
        ends_(blocks + 1, kMark) {}

  [[nodiscard]] std::int16_t* coefficients(int block = 0) {
    return coefficients_.data() + 64 * block;
  }
  [[nodiscard]] std::uint8_t* ends(int block = 0) {
    return ends_.data() + block;
  }
  [[nodiscard]] bool StayedInside() const {
    return coefficients_.back() == kMark && ends_.back() == kMark;
  }

  // Whether all but the slack is the same.
  friend bool operator==(const Blocks& a, const Blocks& b) {
    return a.Zigzag() == b.Zigzag() &&
           std::equal(a.ends_.begin(), a.ends_.end() - 1, b.ends_.begin(),
                      b.ends_.end() - 1);
  }

  // In zigzag order, whatever the target's is.
  [[nodiscard]] std::vector<std::int16_t> Zigzag() const {
    const auto places = CurrentEntropyTarget().stored_place;
    std::vector<std::int16_t> sorted(std::size_t{64} * blocks_);
    for (int i = 0; i < 64 * blocks_; ++i) {
      sorted[i] = coefficients_[i / 64 * 64 + places[i % 64]];
    }
    return sorted;
  }

  // Whether the ends are just behind the last coefficient that is not zero, or
  // at most what a block spells out.
  [[nodiscard]] bool EndsHold() const {
    const std::vector<std::int16_t> sorted = Zigzag();
    for (int i = 0; i < blocks_; ++i) {
      int end = 64;
      while (end > 1 && sorted[64 * i + end - 1] == 0) {
        --end;
      }
      if (ends_[i] < end || ends_[i] > 64) {
        return false;
      }
    }
    return true;
  }

 private:
  int blocks_;
  std::vector<std::int16_t> coefficients_;
  std::vector<std::uint8_t> ends_;
};

class JpegEntropyTest : public testing::TestWithParam<std::string> {
 protected:
  JpegEntropyTest() { UseSimdTarget(GetParam()); }
  ~JpegEntropyTest() override { UseSimdTarget(""); }

  // Everything about one JPEG: whole, row by row, passed over, as runs, ahead.
  static void ExpectAsLibjpeg(const TestJpegOptions& options) {
    SCOPED_TRACE(testing::Message()
                 << options.width << "x" << options.height << " quality "
                 << options.quality << " sampling "
                 << static_cast<int>(options.subsampling) << " optimised "
                 << options.optimize);
    CodedScan scan;
    ReadCoefficients(TestJpeg(options), scan);
    const std::vector<ScanPlace> rows = ExpectRows(scan);
    ExpectRuns(scan, rows);
    ExpectAhead(scan);
    scan.UseGroups(true);
    EXPECT_EQ(ExpectRows(scan), rows);
  }

  // Decodes row by row; returns where they begin.
  static std::vector<ScanPlace> ExpectRows(const CodedScan& scan) {
    Blocks blocks(scan.blocks());
    std::vector<ScanPlace> rows;
    ScanPlace place;
    ScanPlace passed;
    const int row_blocks = scan.mcus_per_row * scan.layout.blocks;
    for (int row = 0; row < scan.mcu_rows; ++row) {
      rows.push_back(place);
      EXPECT_TRUE(CurrentEntropyTarget().decode_mcus(
          scan.layout, scan.bytes(), scan.mcus_per_row, place,
          blocks.coefficients(row * row_blocks),
          blocks.ends(row * row_blocks)));
      EXPECT_TRUE(CurrentEntropyTarget().pass_mcus(scan.layout, scan.bytes(),
                                                   scan.mcus_per_row, passed));
      EXPECT_EQ(passed, place);
    }
    EXPECT_EQ((place.bit + 7) / 8, scan.bytes().size);
    EXPECT_EQ(blocks.Zigzag(), scan.coefficients);
    EXPECT_TRUE(blocks.EndsHold());
    EXPECT_TRUE(blocks.StayedInside());
    return rows;
  }

  static void ExpectRuns(const CodedScan& scan,
                         const std::vector<ScanPlace>& rows) {
    const int row_blocks = scan.mcus_per_row * scan.layout.blocks;
    std::vector<Blocks> blocks(rows.size(), Blocks(row_blocks));
    std::vector<McuRun> runs;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      runs.push_back({.bytes = scan.bytes(),
                      .place = rows[i],
                      .mcus = scan.mcus_per_row,
                      .coefficients = blocks[i].coefficients(),
                      .ends = blocks[i].ends()});
    }
    ASSERT_TRUE(CurrentEntropyTarget().decode_runs(scan.layout, runs));
    std::vector<std::int16_t> all;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const std::vector<std::int16_t> row = blocks[i].Zigzag();
      all.insert(all.end(), row.begin(), row.end());
      EXPECT_TRUE(blocks[i].EndsHold());
      EXPECT_TRUE(blocks[i].StayedInside());
      if (i + 1 < rows.size()) {
        EXPECT_EQ(runs[i].place, rows[i + 1]);
      }
    }
    EXPECT_EQ(all, scan.coefficients);
  }

  // With right and wrong expectations of an MCU's bits.
  static void ExpectAhead(const CodedScan& scan) {
    const double mean =
        static_cast<double>(scan.bytes().size) * 8 / scan.mcus();
    for (const double factor : {1.0, 0.2, 0.7, 1.5, 10.0}) {
      Blocks blocks(scan.blocks());
      ScanPlace place;
      EXPECT_TRUE(CurrentEntropyTarget().decode_ahead(
          scan.layout, scan.bytes(), scan.mcus(), factor * mean, place,
          blocks.coefficients(), blocks.ends()));
      EXPECT_EQ((place.bit + 7) / 8, scan.bytes().size);
      EXPECT_EQ(blocks.Zigzag(), scan.coefficients) << factor;
      EXPECT_TRUE(blocks.EndsHold());
      EXPECT_TRUE(blocks.StayedInside());
    }
  }
};

INSTANTIATE_TEST_SUITE_P(Targets, JpegEntropyTest,
                         testing::ValuesIn(SupportedSimdTargets()),
                         [](const auto& test) { return test.param; });

TEST_P(JpegEntropyTest, EqualsLibjpegInAllSamplingsQualitiesAndSizes) {
  for (const bool optimize : {false, true}) {
    TestJpegOptions options{.width = 157, .height = 143, .optimize = optimize};
    for (const auto subsampling : {Subsampling::k444, Subsampling::k422,
                                   Subsampling::k420, Subsampling::k440}) {
      options.subsampling = subsampling;
      ExpectAsLibjpeg(options);
    }
    options.color = TestColor::kGray;
    ExpectAsLibjpeg(options);
  }
  for (int quality = 1; quality <= 100; quality += quality < 90 ? 9 : 1) {
    ExpectAsLibjpeg({.quality = quality, .optimize = quality % 2 == 0});
  }
  for (int size = 1; size < 36; size += 5) {
    ExpectAsLibjpeg(
        {.width = size, .height = 36 - size, .subsampling = Subsampling::k420});
    ExpectAsLibjpeg({.width = 36 - size, .height = size});
  }
}

// Decodes, passes over, decodes as two runs and ahead: all must say the same.
bool Decodes(const CodedScan& scan, const ScanPlace& start = {}) {
  ScanPlace place = start;
  Blocks blocks(scan.blocks());
  ScanPlace passed = place;
  const bool decoded = CurrentEntropyTarget().decode_mcus(
      scan.layout, scan.bytes(), scan.mcus(), place, blocks.coefficients(),
      blocks.ends());
  EXPECT_TRUE(blocks.StayedInside());
  EXPECT_EQ(CurrentEntropyTarget().pass_mcus(scan.layout, scan.bytes(),
                                             scan.mcus(), passed),
            decoded);
  EXPECT_TRUE(!decoded || passed == place);
  std::array<Blocks, 2> others = {Blocks(scan.blocks()), Blocks(scan.blocks())};
  std::array<McuRun, 2> runs;
  for (int i = 0; i < 2; ++i) {
    runs[i] = {.bytes = scan.bytes(),
               .place = start,
               .mcus = scan.mcus(),
               .coefficients = others[i].coefficients(),
               .ends = others[i].ends()};
  }
  EXPECT_EQ(CurrentEntropyTarget().decode_runs(scan.layout, runs), decoded);
  for (int i = 0; i < 2; ++i) {
    EXPECT_TRUE(others[i].StayedInside());
    EXPECT_TRUE(!decoded || (runs[i].place == place && others[i] == blocks));
  }
  Blocks ahead(scan.blocks());
  ScanPlace arrived = start;
  const double bits = static_cast<double>(scan.bytes().size) * 8 / scan.mcus();
  EXPECT_EQ(CurrentEntropyTarget().decode_ahead(
                scan.layout, scan.bytes(), scan.mcus(), bits, arrived,
                ahead.coefficients(), ahead.ends()),
            decoded);
  EXPECT_TRUE(!decoded || (arrived == place && ahead == blocks));
  return decoded;
}

// Appends the low bits of a word to a scan, the highest first.
void AppendBits(std::uint32_t word, int count, std::string& scan) {
  for (int bit = count - 1; bit >= 0; --bit) {
    scan.push_back((word >> bit & 1) != 0 ? '1' : '0');
  }
}

std::vector<std::uint8_t> ToScanBytes(std::string bits) {
  bits.resize((bits.size() + 7) / 8 * 8, '1');
  std::vector<std::uint8_t> bytes;
  for (std::size_t i = 0; i < bits.size(); i += 8) {
    bytes.push_back(
        static_cast<std::uint8_t>(std::stoi(bits.substr(i, 8), nullptr, 2)));
  }
  bytes.resize(bytes.size() + kScanSlack);
  return bytes;
}

// Makes a scan's only row, of blocks whose DC bit is 0: no difference.
void UseBlocks(int blocks, const HuffmanSpec& ac, CodedScan& scan) {
  scan.ac_specs[0] = ac;
  HuffmanSpec& dc = scan.dc_specs[0];
  dc.defined = true;
  dc.counts[1] = 1;
  EXPECT_TRUE(BuildAcTable(ac, scan.ac_tables[0]));
  EXPECT_TRUE(BuildDcTable(dc, scan.dc_tables[0]));
  scan.layout.blocks = 1;
  scan.layout.block[0] = {scan.dc_tables.data(), scan.ac_tables.data(), 0};
  scan.mcus_per_row = blocks;
  scan.mcu_rows = 1;
}

// Makes a scan of blocks with long symbols, of code_bits code bits and 4 to 15
// value bits, each before any number of the longest symbols that a look-up
// finds whole.
void LongSymbols(int code_bits, CodedScan& scan) {
  constexpr int kBlocks = 7 * 12;
  // 0: eleven bits follow. 10: the end. 110...: 4 to 15 bits follow.
  HuffmanSpec ac;
  ac.defined = true;
  ac.counts[1] = ac.counts[2] = 1;
  ac.counts[code_bits] = 12;
  ac.values = {0x0B, 0x00, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
  UseBlocks(kBlocks, ac, scan);
  std::string bits;
  for (std::uint32_t block = 0; block < kBlocks; ++block) {
    AppendBits(0b0, 1, bits);
    for (std::uint32_t k = 0; k < 62; ++k) {
      if (k % (2 + block % 7) == 0) {
        const std::uint32_t more = block % 12;
        AppendBits((0b11U << (code_bits - 2)) + more, code_bits, bits);
        AppendBits(977 * k + block, static_cast<int>(4 + more), bits);
      } else {
        AppendBits(0b0, 1, bits);
        AppendBits((331 * k + 7 * block) % 2048, 11, bits);
      }
    }
    AppendBits(0b10, 2, bits);
  }
  scan.data = ToScanBytes(bits);
}

// Codes shorter and longer than a look-up: none may be looked up in bits that
// are not there.
TEST_P(JpegEntropyTest, DecodesLongSymbolsAmongOthers) {
  for (const int code_bits : {6, 9, 11, 12, 13, 14, 16}) {
    CodedScan scan;
    LongSymbols(code_bits, scan);
    EXPECT_TRUE(Decodes(scan)) << code_bits;
    scan.UseGroups(true);
    EXPECT_TRUE(Decodes(scan)) << code_bits;
  }
}

// The zero that begins the block behind a full one has the code of an end.
TEST_P(JpegEntropyTest, FullBlocksHaveNoEnd) {
  constexpr int kBlocks = 400;
  CodedScan scan;
  // 0: the end. 10: one bit follows.
  HuffmanSpec ac;
  ac.defined = true;
  ac.counts[1] = ac.counts[2] = 1;
  ac.values = {0x00, 0x01};
  UseBlocks(kBlocks, ac, scan);
  std::string bits;
  std::vector<std::int16_t> expected;
  for (int block = 0; block < kBlocks; ++block) {
    const int end = block % 3 == 0 ? 1 + block * 7 % 64 : 64;
    AppendBits(0b0, 1, bits);
    expected.push_back(0);
    for (int k = 1; k < 64; ++k) {
      const bool is_positive = (k + block) % 3 == 0;
      if (k < end) {
        AppendBits(is_positive ? 0b101 : 0b100, 3, bits);
      }
      expected.push_back(static_cast<std::int16_t>(k >= end      ? 0
                                                   : is_positive ? 1
                                                                 : -1));
    }
    if (end < 64) {
      AppendBits(0b0, 1, bits);
    }
  }
  scan.data = ToScanBytes(bits);
  for (const bool groups : {false, true}) {
    scan.UseGroups(groups);
    EXPECT_TRUE(Decodes(scan));
    Blocks blocks(kBlocks);
    ScanPlace place;
    EXPECT_TRUE(CurrentEntropyTarget().decode_mcus(
        scan.layout, scan.bytes(), kBlocks, place, blocks.coefficients(),
        blocks.ends()));
    EXPECT_EQ(blocks.Zigzag(), expected);
    EXPECT_EQ(place.bit, bits.size());
  }
}

// Byte by byte.
std::vector<std::uint8_t> UnstuffedTwin(std::span<const std::uint8_t> bytes,
                                        std::size_t& read) {
  std::vector<std::uint8_t> copy;
  for (read = 0; read < bytes.size(); ++read) {
    copy.push_back(bytes[read]);
    if (bytes[read] == 0xFF && (++read == bytes.size() || bytes[read] != 0)) {
      copy.pop_back();
      --read;
      break;
    }
  }
  return copy;
}

TEST_P(JpegEntropyTest, UnstuffsUpToAMarker) {
  SampleRandom random({}, RandomStream::kMadeData);
  for (std::uint32_t i = 0; i < 20'000; ++i) {
    std::vector<std::uint8_t> bytes(random.Below(300));
    const std::uint32_t ordinary = 1 + random.Below(40);
    const std::uint32_t stuffed = 1 + random.Below(20);
    for (std::size_t k = 0; k < bytes.size(); ++k) {
      const bool is_stuffed =
          k > 0 && bytes[k - 1] == 0xFF && random.Below(stuffed + 1) > 0;
      const bool is_mark = !is_stuffed && random.Below(ordinary + 1) == 0;
      bytes[k] = static_cast<std::uint8_t>(is_stuffed ? 0
                                           : is_mark  ? 0xFF
                                                      : random.Below(255));
    }
    std::size_t read = 0;
    std::size_t twin_read = 0;
    ASSERT_EQ(CurrentEntropyTarget().unstuff(bytes, read),
              UnstuffedTwin(bytes, twin_read));
    ASSERT_EQ(read, twin_read);
  }
}

TEST_P(JpegEntropyTest, RefusesAScanThatIsCutShort) {
  CodedScan scan;
  ReadCoefficients(TestJpeg(), scan);
  EXPECT_TRUE(Decodes(scan));
  for (const std::size_t size :
       {scan.bytes().size - 1, scan.bytes().size / 2, std::size_t{0}}) {
    scan.data.resize(size);
    scan.data.resize(size + kScanSlack);
    EXPECT_FALSE(Decodes(scan));
    scan.UseGroups(true);
    EXPECT_FALSE(Decodes(scan));
  }
}

TEST_P(JpegEntropyTest, RefusesPlacesAndDcValuesThatCannotBe) {
  CodedScan scan;
  ReadCoefficients(TestJpeg({.quality = 100}), scan);
  EXPECT_TRUE(Decodes(scan, {.dc = {0, 0, 0}}));
  EXPECT_FALSE(Decodes(scan, {.dc = {32767, 0, 0}}));
  EXPECT_FALSE(Decodes(scan, {.dc = {0, -32768, 0}}));
  EXPECT_FALSE(Decodes(scan, {.bit = scan.bytes().size * 8 + 1}));
}

TEST_P(JpegEntropyTest, AnyBytesAreSafe) {
  CodedScan scan;
  ReadCoefficients(TestJpeg({.subsampling = Subsampling::k420}), scan);
  const std::vector<std::uint8_t> good = scan.data;
  int decoded = 0;
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    SampleRandom random({.position = seed}, RandomStream::kCrop);
    scan.data = good;
    const auto from = static_cast<std::size_t>(
        random.Below(static_cast<std::uint32_t>(scan.bytes().size)));
    for (std::size_t i = from; i < scan.bytes().size; i += 1 + seed % 7) {
      scan.data[i] = static_cast<std::uint8_t>(random.Below(256));
    }
    scan.UseGroups(false);
    const bool decodes = Decodes(scan);
    scan.UseGroups(true);
    EXPECT_EQ(Decodes(scan), decodes);
    decoded += decodes ? 1 : 0;
  }
  EXPECT_GT(decoded, 0);  // So that some of them are compared to the end.
  EXPECT_LT(decoded, 300);
}

}  // namespace
}  // namespace infeed

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/random.h"
#include "tests/support/expect_same_decode.h"

// Scans that no encoder writes: JpegDecoder gives what libjpeg-turbo gives,
// pixels or words.
namespace infeed {
namespace {

// AC symbols below this have codes of 9 bits.
constexpr int kShortCodes = 200;

void AppendTable(int table, const std::array<int, 17>& counts, int symbols,
                 std::vector<int>& body) {
  body.push_back(table);
  body.insert(body.end(), counts.begin() + 1, counts.end());
  for (int symbol = 0; symbol < symbols; ++symbol) {
    body.push_back(symbol);
  }
}

// A JPEG written symbol by symbol: what no encoder writes.
//
//   RawJpeg().Quantisers(0, 255).Frame(8, 8, {{1, 0x11, 0}}).Tables()
//       .Scan({{1, 0x00}}).Dc(11, 2047).Ac(0, 10, 1023).EndOfBlock()
//       .Finish();
class RawJpeg {
 public:
  RawJpeg() { Marker(0xD8); }

  struct Component {
    int id;
    int factors;    // horizontal << 4 | vertical
    int quantiser;  // number of the table
  };
  struct ScanComponent {
    int id;
    int tables;  // DC << 4 | AC
  };

  RawJpeg& Marker(int code) {
    Byte(0xFF);
    Byte(code);
    return *this;
  }
  // A marker with its length and what it holds.
  RawJpeg& Segment(int marker, const std::vector<int>& body) {
    Marker(marker);
    const int length = static_cast<int>(body.size()) + 2;
    Byte(length >> 8);
    Byte(length);
    for (const int value : body) {
      Byte(value);
    }
    return *this;
  }
  // Table `number` with this value everywhere, 16 bits wide where it must be.
  RawJpeg& Quantisers(int number, int value) {
    const bool wide = value > 255;
    std::vector<int> body = {wide ? 0x10 | number : number};
    for (int i = 0; i < 64; ++i) {
      if (wide) {
        body.push_back(value >> 8);
      }
      body.push_back(value & 255);
    }
    return Segment(0xDB, body);
  }
  RawJpeg& Frame(int width, int height,
                 const std::vector<Component>& components, int marker = 0xC0) {
    std::vector<int> body = {8, height >> 8, height, width >> 8, width, 0};
    body.back() = static_cast<int>(components.size());
    for (const Component& component : components) {
      body.insert(body.end(),
                  {component.id, component.factors, component.quantiser});
    }
    return Segment(marker, body);
  }
  // Huffman tables 0 with codes for every symbol: DC 0..15 of 5 bits, AC
  // 0..199 of 9 and the rest of 10 bits.
  RawJpeg& Tables() {
    std::array<int, 17> dc{};
    dc[5] = 16;
    std::array<int, 17> ac{};
    ac[9] = kShortCodes;
    ac[10] = 256 - kShortCodes;
    std::vector<int> body;
    AppendTable(0x00, dc, 16, body);
    AppendTable(0x10, ac, 256, body);
    return Segment(0xC4, body);
  }
  RawJpeg& Scan(const std::vector<ScanComponent>& components) {
    std::vector<int> body = {static_cast<int>(components.size())};
    for (const ScanComponent& component : components) {
      body.insert(body.end(), {component.id, component.tables});
    }
    body.insert(body.end(), {0, 63, 0});
    return Segment(0xDA, body);
  }

  // Coded data, of which FF bytes get their 00. The highest bit first.
  RawJpeg& Bits(std::uint32_t bits, int count) {
    for (int i = count - 1; i >= 0; --i) {
      held_ = held_ << 1 | (bits >> i & 1);
      if (++held_count_ == 8) {
        const int byte = static_cast<int>(held_ & 255);
        Byte(byte);
        if (byte == 255) {
          Byte(0);
        }
        held_count_ = 0;
      }
    }
    return *this;
  }
  // A DC difference of `size` bits, those that are coded; likewise an AC
  // coefficient after `run` zeros.
  RawJpeg& Dc(int size, std::uint32_t bits) {
    return Bits(static_cast<std::uint32_t>(size), 5).Bits(bits, size);
  }
  RawJpeg& Ac(int run, int size, std::uint32_t bits) {
    const int symbol = run << 4 | size;
    if (symbol < kShortCodes) {
      Bits(static_cast<std::uint32_t>(symbol), 9);
    } else {
      Bits(static_cast<std::uint32_t>(symbol + kShortCodes), 10);
    }
    return Bits(bits, size);
  }
  RawJpeg& EndOfBlock() { return Ac(0, 0, 0); }
  // Fills the last byte with ones.
  RawJpeg& Pad() { return Bits(255, (8 - held_count_) % 8); }

  // Pads, and ends the image. Returns the bytes.
  std::string Finish() {
    Pad();
    Marker(0xD9);
    return bytes_;
  }

 private:
  void Byte(int value) { bytes_.push_back(static_cast<char>(value)); }

  std::string bytes_;
  std::uint32_t held_ = 0;  // bits that are no byte yet
  int held_count_ = 0;
};

// Begins an image of gray, or of luma with these factors and two of chroma.
RawJpeg Begun(int width, int height, int quantiser, int factors = 0x11,
              bool gray = true) {
  RawJpeg jpeg;
  jpeg.Quantisers(0, quantiser).Tables();
  const int frame = quantiser > 255 ? 0xC1 : 0xC0;
  if (gray) {
    jpeg.Frame(width, height, {{1, factors, 0}}, frame).Scan({{1, 0}});
  } else {
    jpeg.Frame(width, height, {{1, factors, 0}, {2, 0x11, 0}, {3, 0x11, 0}},
               frame)
        .Scan({{1, 0}, {2, 0}, {3, 0}});
  }
  return jpeg;
}

// How far a random scan goes.
struct Reach {
  int dc_size;  // at most, bits
  int ac_size;
  int quantiser;
  int symbols;  // of a block, at most
};

std::uint32_t Draw(SampleRandom& random, int below) {
  return random.Below(static_cast<std::uint32_t>(below));
}

void AddBlock(const Reach& reach, SampleRandom& random, RawJpeg& jpeg) {
  // Half of them the extremes of their size.
  const auto bits = [&] {
    const std::uint32_t any = random.Word();
    return Draw(random, 2) == 0 ? any : (any & 1) - 1;
  };
  const int dc = static_cast<int>(Draw(random, reach.dc_size + 1));
  jpeg.Dc(dc, bits());
  int place = 1;
  for (std::uint32_t n = Draw(random, reach.symbols + 1); n > 0; --n) {
    const int run = static_cast<int>(Draw(random, 2) * Draw(random, 15));
    place += run + 1;
    if (place > 64) {
      break;
    }
    const int size = 1 + static_cast<int>(Draw(random, reach.ac_size));
    jpeg.Ac(run, size, bits());
    if (place == 64) {
      return;
    }
  }
  jpeg.EndOfBlock();
}

// An image with as many blocks as it needs.
std::string RandomScan(const Reach& reach, std::uint64_t seed) {
  constexpr std::array<int, 5> kFactors = {0x11, 0x11, 0x21, 0x22, 0x12};
  SampleRandom random({.seed = seed}, RandomStream::kMadeData);
  const std::uint32_t mode = Draw(random, kFactors.size());
  const bool gray = mode == 0;
  const int factors = kFactors[mode];
  const int horizontal = factors >> 4;
  const int vertical = factors & 15;
  const int columns = 1 + static_cast<int>(Draw(random, 5));
  const int rows = 1 + static_cast<int>(Draw(random, 3));
  RawJpeg jpeg = Begun(8 * horizontal * columns - 3, 8 * vertical * rows - 2,
                       reach.quantiser, factors, gray);
  const int blocks = gray ? 1 : horizontal * vertical + 2;
  for (int i = 0; i < columns * rows * blocks; ++i) {
    AddBlock(reach, random, jpeg);
  }
  return jpeg.Finish();
}

std::vector<NamedJpeg> RandomScans(const Reach& reach, int count) {
  std::vector<NamedJpeg> jpegs;
  for (int i = 0; i < count; ++i) {
    jpegs.push_back({"scan " + std::to_string(i),
                     RandomScan(reach, static_cast<std::uint64_t>(i))});
  }
  return jpegs;
}

// A gray image of 64x8 whose eight blocks are whatever this adds.
template <typename AddBlocks>
std::string GrayRow(int quantiser, AddBlocks add) {
  RawJpeg jpeg = Begun(64, 8, quantiser);
  add(jpeg);
  return jpeg.Finish();
}

template <typename AddBlocks>
void ExpectGrayRow(const std::string& name, AddBlocks add, int quantiser = 2,
                   int windows = 6) {
  ExpectSameDecode({{name, GrayRow(quantiser, add)}}, windows);
}

void AddBlocks(int count, RawJpeg& jpeg) {
  for (int i = 0; i < count; ++i) {
    jpeg.Dc(3, 5).Ac(2, 3, 4).EndOfBlock();
  }
}

TEST(JpegExtremeTest, CoefficientsOfEverySize) {
  for (int size = 1; size <= 10; ++size) {
    for (const int quantiser : {1, 3, 16, 255}) {
      const WindowTally tally =
          ExpectSameDecode(RandomScans({size, size, quantiser, 12}, 40), 3);
      EXPECT_EQ(tally.refused, 0);
    }
  }
}

TEST(JpegExtremeTest, CoefficientsThatNoImageHas) {
  for (int size = 9; size <= 15; ++size) {
    for (const int quantiser : {1, 16, 255, 256, 4095, 65535}) {
      ExpectSameDecode(RandomScans({size, size, quantiser, 20}, 30), 3);
      ExpectSameDecode(RandomScans({size, 3, quantiser, 4}, 20), 3);
      ExpectSameDecode(RandomScans({3, size, quantiser, 2}, 20), 3);
    }
  }
}

TEST(JpegExtremeTest, CoefficientsOfEverySizeScaled) {
  for (const int denominator : {2, 4, 8}) {
    for (const int quantiser : {1, 16, 255, 65535}) {
      for (const int size : {3, 8, 11, 15}) {
        ExpectSameDecode(RandomScans({size, size, quantiser, 30}, 30), 3,
                         denominator);
      }
    }
  }
}

TEST(JpegExtremeTest, FullBlocks) {
  ExpectSameDecode(RandomScans({5, 4, 8, 63}, 200), 3);
  ExpectSameDecode(RandomScans({11, 10, 1, 63}, 100), 3);
}

// One coefficient at a time, of either sign, at every place.
TEST(JpegExtremeTest, SingleCoefficients) {
  std::vector<NamedJpeg> jpegs;
  for (const int size : {1, 6, 9, 10, 11, 12, 15}) {
    for (int place = 1; place < 64; ++place) {
      const std::string jpeg = GrayRow(place % 2 == 0 ? 1 : 40, [&](auto& raw) {
        for (int i = 0; i < 8; ++i) {
          raw.Dc(i, 0);
          for (int zeros = place - 1; zeros > 15; zeros -= 16) {
            raw.Ac(15, 0, 0);
          }
          raw.Ac((place - 1) % 16, size, i % 2 == 0 ? 0xFFFF : 0);
          if (place < 63) {
            raw.EndOfBlock();
          }
        }
      });
      jpegs.push_back(
          {"size " + std::to_string(size) + " at " + std::to_string(place),
           jpeg});
    }
  }
  for (const int denominator : {1, 2, 4, 8}) {
    ExpectSameDecode(jpegs, 2, denominator);
  }
}

TEST(JpegExtremeTest, DcThatLeavesItsRange) {
  for (const int size : {11, 12, 13, 14, 15}) {
    for (const std::uint32_t bits : {0xFFFFU, 0U}) {
      const auto add = [&](RawJpeg& raw) {
        for (int i = 0; i < 8; ++i) {
          raw.Dc(size, bits).EndOfBlock();
        }
      };
      ExpectGrayRow("DC", add, 1, 12);
    }
  }
}

TEST(JpegExtremeTest, RunsPastTheBlock) {
  for (int last = 0; last < 16; ++last) {
    for (int before = 2; before < 5; ++before) {
      ExpectGrayRow("run", [&](RawJpeg& raw) {
        raw.Dc(2, 3);
        for (int i = 0; i < before; ++i) {
          raw.Ac(15, i % 2, 1);
        }
        raw.Ac(last, 3, 5);
        AddBlocks(9, raw);
      });
    }
  }
}

// In a sequential scan a run without a value ends the block, whatever its
// length.
TEST(JpegExtremeTest, RunsWithoutAValue) {
  for (int run = 0; run < 16; ++run) {
    ExpectGrayRow("run", [&](RawJpeg& raw) {
      for (int i = 0; i < 8; ++i) {
        raw.Dc(2, 3).Ac(0, 3, 4).Ac(run, 0, 0);
        if (run == 15) {
          raw.EndOfBlock();
        }
      }
    });
  }
}

TEST(JpegExtremeTest, BlocksTooFewOrTooMany) {
  for (int blocks = 0; blocks < 20; ++blocks) {
    ExpectGrayRow("blocks " + std::to_string(blocks),
                  [&](RawJpeg& raw) { AddBlocks(blocks, raw); });
  }
}

TEST(JpegExtremeTest, BitsThatAreNoCode) {
  for (int blocks = 0; blocks < 8; ++blocks) {
    for (const int ones : {5, 9, 10, 16, 30, 100}) {
      ExpectGrayRow("ones", [&](RawJpeg& raw) {
        AddBlocks(blocks, raw);
        for (int i = 0; i < ones; ++i) {
          raw.Bits(1, 1);
        }
        AddBlocks(9 - blocks, raw);
      });
    }
  }
}

// The bits after the last block, up to a byte, may be any.
TEST(JpegExtremeTest, PaddingOfZeros) {
  for (int zeros = 1; zeros < 20; ++zeros) {
    ExpectGrayRow("zeros", [&](RawJpeg& raw) {
      AddBlocks(8, raw);
      raw.Bits(0, zeros);
    });
  }
}

TEST(JpegExtremeTest, QuantisersOfZero) {
  ExpectGrayRow(
      "zero", [](RawJpeg& raw) { AddBlocks(8, raw); }, 0, 12);
}

}  // namespace
}  // namespace infeed

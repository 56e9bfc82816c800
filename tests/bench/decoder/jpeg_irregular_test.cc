#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "base/random.h"
#include "tests/support/expect_same_decode.h"
#include "tests/support/test_jpeg.h"

// JPEGs whose markers or scan are not as they should be: JpegDecoder gives what
// libjpeg-turbo gives, pixels or words.
namespace infeed {
namespace {

int ByteAt(std::string_view jpeg, std::size_t at) {
  return static_cast<unsigned char>(jpeg[at]);
}

// Bytes from numbers: Bytes(0xFF, 0xD9).
template <typename... Values>
[[nodiscard]] std::string BytesOf(Values... values) {
  return {static_cast<char>(values)...};
}

// The length of a segment, its marker included. Requires: it has a length.
std::size_t SegmentSize(std::string_view jpeg, std::size_t at) {
  return 2U + static_cast<std::size_t>(ByteAt(jpeg, at + 2) << 8 |
                                       ByteAt(jpeg, at + 3));
}

// The offset of the first segment with this marker, up to the first scan's.
// Requires: there is one.
std::size_t SegmentAt(std::string_view jpeg, int marker) {
  std::size_t at = 2;
  while (ByteAt(jpeg, at + 1) != marker) {
    Check(ByteAt(jpeg, at + 1) != 0xDA, "the JPEG has the segment");
    at += SegmentSize(jpeg, at);
  }
  return at;
}

// The offset of the first scan's first coded byte.
std::size_t CodedAt(std::string_view jpeg) {
  const std::size_t scan = SegmentAt(jpeg, 0xDA);
  return scan + SegmentSize(jpeg, scan);
}

// The segment itself.
std::string SegmentOf(std::string_view jpeg, int marker) {
  const std::size_t at = SegmentAt(jpeg, marker);
  return std::string(jpeg.substr(at, SegmentSize(jpeg, at)));
}

std::string Inserted(std::string jpeg, std::size_t at, std::string_view bytes) {
  return jpeg.insert(at, bytes);
}

// Without the first segment with this marker.
std::string Without(std::string jpeg, int marker) {
  const std::size_t at = SegmentAt(jpeg, marker);
  return jpeg.erase(at, SegmentSize(jpeg, at));
}

// With another byte in the first segment with this marker; its marker is at 0,
// its length at 2.
std::string WithByte(std::string jpeg, int marker, std::size_t place,
                     int value) {
  jpeg[SegmentAt(jpeg, marker) + place] = static_cast<char>(value);
  return jpeg;
}

constexpr int kFrame = 0xC0;
constexpr int kHuffman = 0xC4;
constexpr int kQuantisers = 0xDB;
constexpr int kScan = 0xDA;
constexpr int kRestarts = 0xDD;
constexpr int kJfif = 0xE0;
constexpr int kAdobe = 0xEE;

// Of every sampling that the decoder of our own knows, with restarts and
// without. Small: tests go through each byte.
std::vector<NamedJpeg> PlainKinds() {
  std::vector<NamedJpeg> kinds;
  const auto add = [&](std::string name, TestJpegOptions options) {
    options.width = 41;
    options.height = 35;
    options.quality = 60;
    kinds.push_back({name, TestJpeg(options)});
    options.restart_interval = 2;
    kinds.push_back({name + " restarts", TestJpeg(options)});
  };
  add("h1v1", {});
  add("h2v1", {.subsampling = Subsampling::k422, .optimize = true});
  add("h2v2", {.subsampling = Subsampling::k420});
  add("h1v2", {.subsampling = Subsampling::k440});
  add("gray", {.color = TestColor::kGray, .optimize = true});
  add("rgb", {.color = TestColor::kAdobeRgb});
  return kinds;
}

// An edit of each plain kind.
template <typename Edit>
std::vector<NamedJpeg> Edited(const std::string& name, Edit edit) {
  std::vector<NamedJpeg> jpegs = PlainKinds();
  for (NamedJpeg& jpeg : jpegs) {
    jpeg.name += ", " + name;
    jpeg.bytes = edit(jpeg.bytes);
  }
  return jpegs;
}

std::string Plain(TestJpegOptions options = {}) {
  options.width = 41;
  options.height = 35;
  options.quality = 60;
  return TestJpeg(options);
}

// Where the scan has an FF that is followed by this byte.
std::vector<std::size_t> FindInScan(const std::string& jpeg, int low,
                                    int high) {
  std::vector<std::size_t> places;
  for (std::size_t i = CodedAt(jpeg); i + 1 < jpeg.size(); ++i) {
    const int next = ByteAt(jpeg, i + 1);
    if (ByteAt(jpeg, i) == 0xFF && next >= low && next <= high) {
      places.push_back(i);
    }
  }
  return places;
}

std::vector<NamedJpeg> Cuts(const NamedJpeg& kind, std::size_t first,
                            std::size_t step = 1) {
  std::vector<NamedJpeg> cuts;
  for (std::size_t size = first; size < kind.bytes.size(); size += step) {
    cuts.push_back({kind.name + " cut to " + std::to_string(size),
                    kind.bytes.substr(0, size)});
  }
  return cuts;
}

TEST(JpegIrregularTest, CutAnywhere) {
  for (const NamedJpeg& kind : PlainKinds()) {
    const std::vector<NamedJpeg> cuts = Cuts(kind, CodedAt(kind.bytes) - 3);
    const WindowTally tally = ExpectSameDecode(cuts, 6);
    EXPECT_GT(tally.refused, std::ssize(cuts));
    EXPECT_LT(tally.refused, tally.windows);
    for (const int denominator : {2, 4, 8}) {
      ExpectSameDecode(Cuts(kind, CodedAt(kind.bytes), 5), 6, denominator);
    }
  }
}

// Large enough that several places of the scan are decoded at a time.
TEST(JpegIrregularTest, CutOrDamagedInALongScan) {
  for (const Subsampling subsampling : {Subsampling::k444, Subsampling::k420}) {
    const std::string jpeg = TestJpeg({.width = 128,
                                       .height = 128,
                                       .quality = 99,
                                       .subsampling = subsampling});
    ASSERT_GT(jpeg.size(), 8U << 10);
    std::vector<NamedJpeg> jpegs;
    for (std::uint64_t seed = 0; seed < 80; ++seed) {
      SampleRandom random({.position = seed}, RandomStream::kCrop);
      const std::size_t coded = CodedAt(jpeg);
      const auto at =
          coded + random.Below(static_cast<std::uint32_t>(jpeg.size() - coded));
      std::string bytes = jpeg;
      if (seed % 4 == 0) {
        bytes.resize(at);
      } else {
        bytes[at] = static_cast<char>(random.Below(255));
      }
      jpegs.push_back({"seed " + std::to_string(seed), bytes});
    }
    const WindowTally tally = ExpectSameDecode(jpegs, 6);
    EXPECT_GT(tally.refused, 0);
    EXPECT_LT(tally.refused, tally.windows);
  }
}

TEST(JpegIrregularTest, CutInTheHeader) {
  const std::string jpeg = Plain({.subsampling = Subsampling::k420});
  std::vector<NamedJpeg> cuts;
  for (std::size_t size = 0; size < CodedAt(jpeg); ++size) {
    cuts.push_back({"cut to " + std::to_string(size), jpeg.substr(0, size)});
  }
  const WindowTally tally = ExpectSameDecode(cuts, 2);
  EXPECT_EQ(tally.refused, tally.windows);
}

TEST(JpegIrregularTest, BytesBehindTheEnd) {
  for (const std::string& tail :
       {std::string("garbage"), BytesOf(0), BytesOf(0xFF), BytesOf(0xFF, 0xD8),
        BytesOf(0xFF, 0xD9)}) {
    const auto append = [&](const std::string& jpeg) { return jpeg + tail; };
    EXPECT_EQ(ExpectSameDecode(Edited("tail", append)).refused, 0);
  }
}

TEST(JpegIrregularTest, BytesBetweenHeaderSegments) {
  for (const std::string& bytes :
       {BytesOf(0), BytesOf(0x55), BytesOf(0xFF), BytesOf(0xFF, 0),
        BytesOf(0xFF, 0xFF, 0), BytesOf(0, 0, 0), std::string(300, 'j')}) {
    for (const int marker : {kQuantisers, kHuffman, kFrame, kScan}) {
      const auto insert = [&](const std::string& jpeg) {
        return Inserted(jpeg, SegmentAt(jpeg, marker), bytes);
      };
      EXPECT_EQ(ExpectSameDecode(Edited("in the header", insert), 4).refused,
                0);
    }
  }
  for (const int code : {0x01, 0xD0, 0xD8, 0xD9, 0xDC}) {
    const auto insert = [&](const std::string& jpeg) {
      return Inserted(jpeg, SegmentAt(jpeg, kScan), BytesOf(0xFF, code));
    };
    ExpectSameDecode(Edited("a marker in the header", insert), 4);
  }
}

TEST(JpegIrregularTest, BytesBeforeTheEndMarker) {
  for (const std::string& bytes :
       {BytesOf(0), BytesOf(0xFF), BytesOf(0x55), BytesOf(0xFF, 0xFF, 0xFF),
        BytesOf(0, 0, 0, 0, 0), BytesOf(0xFF, 0), BytesOf(0xFF, 0xD0),
        BytesOf(0xFF, 0xD8), BytesOf(0xFF, 0xFE, 0, 3, 65),
        std::string(300, '\x7f'), std::string(300, '\0')}) {
    const auto insert = [&](const std::string& jpeg) {
      return Inserted(jpeg, jpeg.size() - 2, bytes);
    };
    for (const int denominator : {1, 2, 8}) {
      ExpectSameDecode(Edited("before the end", insert), 6, denominator);
    }
  }
}

TEST(JpegIrregularTest, AnotherEndMarker) {
  for (const int marker : {0x00, 0x01, 0xC0, 0xC4, 0xD0, 0xD7, 0xD8, 0xDA, 0xDB,
                           0xDC, 0xDD, 0xE0, 0xFE, 0xFF}) {
    ExpectSameDecode(Edited("end", [&](std::string jpeg) {
      jpeg.back() = static_cast<char>(marker);
      return jpeg;
    }));
  }
}

TEST(JpegIrregularTest, MarkersAndBytesInTheScan) {
  std::vector<std::string> all = {BytesOf(0xFF, 0xD9),
                                  BytesOf(0xFF, 0xD8),
                                  BytesOf(0xFF, 0x01),
                                  BytesOf(0xFF, 0xE0, 0, 2),
                                  BytesOf(0xFF, 0xDC, 0, 4, 0, 9),
                                  BytesOf(0xFF, 0xD3),
                                  BytesOf(0xFF, 0xD0),
                                  BytesOf(0xFF, 0xFF),
                                  BytesOf(0xFF, 0xFF, 0),
                                  BytesOf(0)};
  for (const std::string& bytes : all) {
    for (const int part : {0, 1, 4, 7}) {
      ExpectSameDecode(Edited("in the scan",
                              [&](const std::string& jpeg) {
                                const std::size_t first = CodedAt(jpeg);
                                const std::size_t size = jpeg.size() - first;
                                return Inserted(jpeg, first + size * part / 8,
                                                bytes);
                              }),
                       4);
    }
  }
}

TEST(JpegIrregularTest, FillBytesInTheScan) {
  for (const int fills : {1, 2, 20}) {
    const auto fill = [&](std::string jpeg) {
      std::vector<std::size_t> places = FindInScan(jpeg, 0, 0xFE);
      std::ranges::reverse(places);
      for (const std::size_t place : places) {
        jpeg.insert(place, static_cast<std::size_t>(fills), '\xff');
      }
      return jpeg;
    };
    ExpectSameDecode(Edited("fill bytes", fill));
    const std::string noise = TestJpeg({.content = TestContent::kNoise});
    EXPECT_GT(FindInScan(noise, 0, 0).size(), 2U);
    ExpectSameDecode({{"noise with fill bytes", fill(noise)}});
  }
}

TEST(JpegIrregularTest, RestartsWithWrongNumbers) {
  for (const int change : {1, 2, 3, 6, 7}) {
    for (const std::size_t which : {0U, 1U, 3U}) {
      ExpectSameDecode(
          Edited("restart",
                 [&](std::string jpeg) {
                   const auto places = FindInScan(jpeg, 0xD0, 0xD7);
                   if (which < places.size()) {
                     char& code = jpeg[places[which] + 1];
                     code = static_cast<char>(0xD0 | ((code + change) & 7));
                   }
                   return jpeg;
                 }),
          6);
    }
  }
}

TEST(JpegIrregularTest, RestartsMissingOrTwice) {
  for (const std::size_t which : {0U, 1U, 3U}) {
    const auto expect = [&](const char* name, auto edit) {
      ExpectSameDecode(Edited(name, [&](std::string jpeg) {
        const auto places = FindInScan(jpeg, 0xD0, 0xD7);
        return which < places.size() ? edit(jpeg, places[which]) : jpeg;
      }));
    };
    expect("restart missing", [](std::string jpeg, std::size_t place) {
      return jpeg.erase(place, 2);
    });
    expect("restart twice", [](const std::string& jpeg, std::size_t place) {
      return Inserted(jpeg, place, jpeg.substr(place, 2));
    });
    expect("bytes before", [](const std::string& jpeg, std::size_t place) {
      return Inserted(jpeg, place, "\x12\x34");
    });
  }
}

TEST(JpegIrregularTest, AnotherRestartInterval) {
  for (const int interval : {0, 1, 3, 5, 6, 255}) {
    const std::string segment = BytesOf(0xFF, kRestarts, 0, 4, 0, interval);
    ExpectSameDecode(Edited("interval", [&](const std::string& jpeg) {
      return Inserted(jpeg, SegmentAt(jpeg, kScan), segment);
    }));
  }
  for (const std::string& segment :
       {BytesOf(0xFF, kRestarts, 0, 3, 0), BytesOf(0xFF, kRestarts, 0, 2),
        BytesOf(0xFF, kRestarts, 0, 5, 0, 2, 0)}) {
    ExpectSameDecode({{"short", Inserted(Plain(), 2, segment)}});
  }
}

TEST(JpegIrregularTest, TablesMissingOrTwice) {
  for (const int marker : {kHuffman, kQuantisers}) {
    ExpectSameDecode(Edited("one missing", [&](const std::string& jpeg) {
      return Without(jpeg, marker);
    }));
    ExpectSameDecode(Edited("twice", [&](const std::string& jpeg) {
      return Inserted(jpeg, SegmentAt(jpeg, kScan), SegmentOf(jpeg, marker));
    }));
    ExpectSameDecode(Edited("behind the frame", [&](const std::string& jpeg) {
      const std::string segment = SegmentOf(jpeg, marker);
      const std::string without = Without(jpeg, marker);
      return Inserted(without, SegmentAt(without, kScan), segment);
    }));
  }
  // Without any, the standard Huffman tables hold.
  EXPECT_EQ(ExpectSameDecode(
                {{"all missing",
                  Without(Without(Without(Without(Plain(), kHuffman), kHuffman),
                                  kHuffman),
                          kHuffman)}})
                .refused,
            0);
}

TEST(JpegIrregularTest, TablesThatMakeNoSense) {
  const std::string jpeg = Plain({.subsampling = Subsampling::k420});
  std::vector<NamedJpeg> cases;
  for (std::size_t place = 4; place < 21; ++place) {
    for (const int value : {0, 1, 2, 3, 16, 17, 0x10, 0x13, 0x24, 200, 255}) {
      cases.push_back(
          {"Huffman " + std::to_string(place) + " " + std::to_string(value),
           WithByte(jpeg, kHuffman, place, value)});
    }
  }
  for (const int value : {12, 13, 15, 16, 200, 255}) {
    cases.push_back({"DC symbol", WithByte(jpeg, kHuffman, 21, value)});
  }
  for (const int value : {0, 1, 3, 4, 16, 20, 255}) {
    cases.push_back({"quantiser", WithByte(jpeg, kQuantisers, 4, value)});
    cases.push_back({"quantiser value", WithByte(jpeg, kQuantisers, 5, value)});
    cases.push_back({"length", WithByte(jpeg, kQuantisers, 3, value)});
    cases.push_back({"length", WithByte(jpeg, kHuffman, 3, value)});
  }
  EXPECT_GT(ExpectSameDecode(cases, 4).refused, std::ssize(cases) / 2);
}

TEST(JpegIrregularTest, MarkersThatSayWhatColourItIs) {
  std::vector<NamedJpeg> cases;
  const std::string rgb = Plain({.color = TestColor::kAdobeRgb});
  const std::string ycc = Plain();
  const std::string gray = Plain({.color = TestColor::kGray});
  for (const int transform : {0, 1, 2, 3, 255}) {
    const std::string adobe = BytesOf(0xFF, kAdobe, 0, 14) +
                              std::string("Adobe\0\x64\0\0\0\0", 11) +
                              BytesOf(transform);
    cases.push_back({"rgb", WithByte(rgb, kAdobe, 15, transform)});
    cases.push_back({"ycc", Inserted(ycc, 2, adobe)});
    cases.push_back({"gray", Inserted(gray, 2, adobe)});
    cases.push_back({"no JFIF", Inserted(Without(ycc, kJfif), 2, adobe)});
    cases.push_back({"short", Inserted(Without(ycc, kJfif), 2,
                                       BytesOf(0xFF, kAdobe, 0, 7) + "Adobe")});
  }
  cases.push_back({"no marker", Without(ycc, kJfif)});
  cases.push_back({"no marker", Without(rgb, kAdobe)});
  ExpectSameDecode(cases);
}

TEST(JpegIrregularTest, JfifOfEveryVersion) {
  std::vector<NamedJpeg> cases;
  for (const int place : {3, 4, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17}) {
    for (const int value : {0, 1, 2, 3, 7, 16, 255}) {
      cases.push_back(
          {"JFIF " + std::to_string(place) + " " + std::to_string(value),
           WithByte(Plain(), kJfif, static_cast<std::size_t>(place), value)});
    }
  }
  ExpectSameDecode(cases, 3);
}

// Three components' identifiers, in the frame and in the scan.
std::string WithIds(std::string jpeg, const std::array<int, 3>& ids) {
  for (std::size_t i = 0; i < 3; ++i) {
    jpeg = WithByte(jpeg, kFrame, 10 + 3 * i, ids[i]);
    jpeg = WithByte(jpeg, kScan, 5 + 2 * i, ids[i]);
  }
  return jpeg;
}

TEST(JpegIrregularTest, ComponentsOfAnyName) {
  std::vector<NamedJpeg> cases;
  for (const std::array<int, 3>& ids : {std::array{0, 1, 2},
                                        {1, 2, 3},
                                        {82, 71, 66},
                                        {1, 1, 1},
                                        {3, 2, 1},
                                        {1, 34, 35},
                                        {255, 254, 253},
                                        {1, 2, 2}}) {
    cases.push_back({"ids", WithIds(Plain(), ids)});
    cases.push_back({"ids, no JFIF", Without(WithIds(Plain(), ids), kJfif)});
    cases.push_back(
        {"subsampled, no JFIF",
         Without(WithIds(Plain({.subsampling = Subsampling::k420}), ids),
                 kJfif)});
  }
  ExpectSameDecode(cases);
}

// Each byte of the segment behind its length with each value.
void ExpectSegmentBytes(int marker, const std::vector<int>& values,
                        int windows) {
  std::vector<NamedJpeg> cases;
  for (const NamedJpeg& kind : PlainKinds()) {
    const std::size_t size = SegmentOf(kind.bytes, marker).size();
    for (std::size_t place = 3; place < size; ++place) {
      for (const int value : values) {
        cases.push_back({kind.name + ", byte " + std::to_string(place) + " " +
                             std::to_string(value),
                         WithByte(kind.bytes, marker, place, value)});
      }
    }
  }
  ExpectSameDecode(cases, windows);
}

TEST(JpegIrregularTest, FrameHeaders) {
  ExpectSegmentBytes(
      kFrame, {0,    1,    2,    3,    4,    5,    8,    12,   0x11, 0x12,
               0x13, 0x14, 0x21, 0x22, 0x24, 0x31, 0x40, 0x41, 0x44, 255},
      2);
}

TEST(JpegIrregularTest, ScanHeaders) {
  ExpectSegmentBytes(
      kScan, {0, 1, 2, 3, 4, 5, 0x10, 0x11, 0x22, 0x33, 0x44, 62, 63, 64, 255},
      3);
}

TEST(JpegIrregularTest, FramesOfOtherProcesses) {
  for (int marker = 0xC0; marker <= 0xCF; ++marker) {
    ExpectSameDecode(Edited("frame marker",
                            [&](const std::string& jpeg) {
                              return WithByte(jpeg, kFrame, 1, marker);
                            }),
                     3);
  }
}

TEST(JpegIrregularTest, SegmentsInOddPlaces) {
  std::vector<std::string> segments = {
      BytesOf(0xFF, 0xD8),
      BytesOf(0xFF, 0xD9),
      BytesOf(0xFF, 0xD0),
      BytesOf(0xFF, 0x01),
      BytesOf(0xFF, 0x02, 0, 2),
      BytesOf(0xFF, 0xFF, 0xFF),
      BytesOf(0xFF, 0xFE, 0, 0),
      BytesOf(0xFF, 0xFE, 0, 1),
      BytesOf(0xFF, 0xFE, 0, 2),
      BytesOf(0xFF, 0xFE, 0xFF, 0xFF),
      BytesOf(0xFF, 0xE5, 0, 3, 0xFF),
      BytesOf(0xFF, 0xDC, 0, 4, 0, 9),
      BytesOf(0xFF, 0xCC, 0, 4, 0, 9),
      BytesOf(0xFF, 0xDE, 0, 4, 0, 9),
      BytesOf(0xFF, 0xDF, 0, 3, 0),
      BytesOf(0xFF, 0xC8, 0, 4, 0, 9),
      BytesOf(0x00),
      BytesOf(0x00, 0xFF, 0x00),
      "garbage",
  };
  const std::string jpeg = Plain({.subsampling = Subsampling::k422});
  segments.push_back(SegmentOf(jpeg, kFrame));
  segments.push_back(SegmentOf(jpeg, kScan));
  std::vector<NamedJpeg> cases;
  for (const std::string& segment : segments) {
    for (const int before : {kJfif, kQuantisers, kFrame, kHuffman, kScan}) {
      cases.push_back({"before " + std::to_string(before),
                       Inserted(jpeg, SegmentAt(jpeg, before), segment)});
    }
    cases.push_back({"first", segment + jpeg});
    cases.push_back(
        {"behind the scan header", Inserted(jpeg, CodedAt(jpeg), segment)});
  }
  ExpectSameDecode(cases, 4);
}

TEST(JpegIrregularTest, HeightThatFollowsTheScan) {
  const std::string jpeg = Plain();
  const std::string height = BytesOf(0xFF, 0xDC, 0, 4, 0, 35);
  ExpectSameDecode({{"height later", Inserted(WithByte(jpeg, kFrame, 6, 0),
                                              jpeg.size() - 2, height)},
                    {"height again", Inserted(jpeg, jpeg.size() - 2, height)}});
}

TEST(JpegIrregularTest, TwoImagesInOne) {
  const std::string jpeg = Plain();
  const std::string gray = Plain({.color = TestColor::kGray});
  ExpectSameDecode(
      {{"one behind the other", jpeg + gray},
       {"one in the other", Inserted(jpeg, SegmentAt(jpeg, kScan), gray)},
       {"a second scan",
        Inserted(jpeg, jpeg.size() - 2, jpeg.substr(SegmentAt(jpeg, kScan)))}});
}

TEST(JpegIrregularTest, ChangedBytes) {
  for (const NamedJpeg& kind : PlainKinds()) {
    std::vector<NamedJpeg> cases;
    SampleRandom random({.seed = kind.bytes.size()}, RandomStream::kMadeData);
    for (int i = 0; i < 400; ++i) {
      std::string jpeg = kind.bytes;
      std::string name = kind.name;
      for (std::uint32_t n = 1 + random.Below(2); n > 0; --n) {
        const std::size_t place =
            2 + random.Below(static_cast<std::uint32_t>(jpeg.size()) - 2);
        const int value = static_cast<int>(random.Below(256));
        jpeg[place] = static_cast<char>(value);
        name +=
            ", byte " + std::to_string(place) + " is " + std::to_string(value);
      }
      cases.push_back({name, jpeg});
    }
    ExpectSameDecode(cases, 4);
  }
}

}  // namespace
}  // namespace infeed

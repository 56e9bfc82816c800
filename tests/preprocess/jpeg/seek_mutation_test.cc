// No seek index, whatever became of it, changes a pixel.

#include <cstddef>
#include <random>
#include <string>
#include <tuple>
#include <vector>

#include "base/error.h"
#include "preprocess/jpeg/jpeg.h"
#include "preprocess/jpeg/reference.h"
#include "preprocess/jpeg_entropy/seek_index.h"
#include "records/store/seek_feature.h"
#include "tests/support/bytes.h"
#include "tests/support/test_jpeg.h"

#include "gtest/gtest.h"

namespace infeed {
namespace {

constexpr int kMutations = 10000;
constexpr int kForgeries = 5000;
constexpr int kRuns[] = {0, 8, 4, 1};

// A JPEG with an index of its own.
struct IndexedJpeg {
  std::string jpeg;
  std::string body;
  std::string sealed;
};

std::vector<IndexedJpeg> MakeJpegs() {
  std::vector<IndexedJpeg> made;
  for (const Subsampling subsampling :
       {Subsampling::k444, Subsampling::k420, Subsampling::k422}) {
    for (const int run : kRuns) {
      IndexedJpeg one;
      one.jpeg = TestJpeg({.width = 75,
                           .height = 50 + static_cast<int>(made.size()),
                           .subsampling = subsampling,
                           .optimize = run == 8,
                           .seed = made.size() + 1});
      one.body =
          SerializeSeekIndex(MakeSeekIndex(AsBytes(one.jpeg), run).value());
      one.sealed = SealSeekIndex(one.body, AsBytes(one.jpeg));
      made.push_back(std::move(one));
    }
  }
  return made;
}

// The pixels of a window by libjpeg-turbo alone, or its error.
std::string Truth(const std::string& jpeg, const Window& window) {
  try {
    ReferenceJpegDecoder reference;
    std::ignore = reference.ReadHeader(AsBytes(jpeg));
    RgbImage image;
    ImageSink sink(image);
    reference.DecodeWindow(window, sink);
    return Flat(image.view());
  } catch (const DataError& error) {
    return error.reason();
  }
}

class SeekMutationTest : public ::testing::Test {
 protected:
  // Decodes a window as readers do, with any bytes as its index.
  std::string Decode(const std::string& jpeg, const Window& window,
                     const std::string& sealed) {
    try {
      std::ignore = decoder_.ReadHeader(AsBytes(jpeg));
      const OpenedSeekIndex opened =
          OpenSeekIndex(AsBytes(sealed), AsBytes(jpeg));
      was_good_ = opened.seal == SeekSeal::kGood;
      const bool has_index = was_good_ && ParseSeekIndex(opened.body, index_);
      RgbImage image;
      ImageSink sink(image);
      decoder_.DecodeWindow(window, sink, has_index ? &index_ : nullptr);
      return Flat(image.view());
    } catch (const DataError& error) {
      return error.reason();
    }
  }

  std::size_t Draw(std::size_t below) { return random_() % below; }
  const IndexedJpeg& DrawJpeg() { return jpegs_[Draw(jpegs_.size())]; }
  Window DrawWindow() {
    const int y = static_cast<int>(Draw(49));
    const int x = static_cast<int>(Draw(74));
    return {.y = y,
            .x = x,
            .height = 1 + static_cast<int>(Draw(50 - y)),
            .width = 1 + static_cast<int>(Draw(75 - x))};
  }

  // Changes some bytes, cuts some off, or adds some.
  std::string Mutated(std::string bytes) {
    const std::string before = bytes;
    while (bytes == before) {
      switch (Draw(4)) {
        case 0:
          bytes.resize(Draw(bytes.size()));
          break;
        case 1:
          bytes.insert(Draw(bytes.size()), 1 + Draw(3),
                       static_cast<char>(random_()));
          break;
        default:
          for (std::size_t flips = 1 + Draw(4); flips > 0; --flips) {
            bytes[Draw(bytes.size())] ^= static_cast<char>(1 << Draw(8));
          }
      }
    }
    return bytes;
  }

  const std::vector<IndexedJpeg> jpegs_ = MakeJpegs();
  std::mt19937 random_{7};
  JpegDecoder decoder_;
  JpegSeekIndex index_;
  bool was_good_ = false;
};

TEST_F(SeekMutationTest, WholeIndexesAreUsed) {
  for (const IndexedJpeg& one : jpegs_) {
    for (int i = 0; i < 20; ++i) {
      const Window window = DrawWindow();
      ASSERT_EQ(Decode(one.jpeg, window, one.sealed), Truth(one.jpeg, window));
      ASSERT_EQ(decoder_.index_use(), JpegIndexUse::kUsed);
    }
  }
}

TEST_F(SeekMutationTest, DamagedIndexNeverGivesAWrongPixel) {
  for (int i = 0; i < kMutations; ++i) {
    const IndexedJpeg& one = DrawJpeg();
    const Window window = DrawWindow();
    const std::string sealed = Mutated(one.sealed);
    ASSERT_EQ(Decode(one.jpeg, window, sealed), Truth(one.jpeg, window)) << i;
    ASSERT_FALSE(was_good_) << i;
  }
}

TEST_F(SeekMutationTest, AnotherJpegsIndexNeverGivesAWrongPixel) {
  for (const IndexedJpeg& one : jpegs_) {
    for (const IndexedJpeg& other : jpegs_) {
      const Window window = DrawWindow();
      ASSERT_EQ(Decode(one.jpeg, window, other.sealed),
                Truth(one.jpeg, window));
      ASSERT_EQ(was_good_, &one == &other);
    }
  }
}

// The JPEG changed after its index was made: whatever libjpeg-turbo makes of
// it.
TEST_F(SeekMutationTest, StaleIndexNeverGivesAWrongPixel) {
  for (int i = 0; i < 2000; ++i) {
    const IndexedJpeg& one = DrawJpeg();
    std::string jpeg = one.jpeg;
    jpeg[700 + Draw(jpeg.size() - 702)] ^= static_cast<char>(1 << Draw(8));
    const Window window = DrawWindow();
    ASSERT_EQ(Decode(jpeg, window, one.sealed), Truth(jpeg, window)) << i;
    ASSERT_FALSE(was_good_) << i;
  }
}

// Sealed as if it were good: it may lead anywhere, but not out of the bytes,
// and a good JPEG stays one.
TEST_F(SeekMutationTest, ForgedIndexDoesNoHarm) {
  int used = 0;
  int refused = 0;
  for (int i = 0; i < kForgeries; ++i) {
    const IndexedJpeg& one = DrawJpeg();
    const Window window = DrawWindow();
    const std::string forged =
        SealSeekIndex(Mutated(one.body), AsBytes(one.jpeg));
    const std::string pixels = Decode(one.jpeg, window, forged);
    ASSERT_TRUE(was_good_);
    ASSERT_EQ(pixels.size(),
              static_cast<std::size_t>(window.width) * window.height * 3);
    used += decoder_.index_use() == JpegIndexUse::kUsed ? 1 : 0;
    refused += decoder_.index_use() == JpegIndexUse::kRefused ? 1 : 0;
  }
  EXPECT_GT(used, 0);
  EXPECT_GT(refused, 0);
}

}  // namespace
}  // namespace infeed

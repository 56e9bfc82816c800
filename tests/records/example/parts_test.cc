#include "records/example/parts.h"

#include <string>

#include "gtest/gtest.h"

namespace infeed {
namespace {

std::string Joined(const ExampleParts& parts) {
  return parts.before + std::string(parts.image) + parts.after;
}

// Protobuf's own serialization is the reference. Lengths around a varint's
// next byte, and values of every length of it.
TEST(ExamplePartsTest, AreWhatProtobufWrites) {
  for (const std::size_t length :
       {0, 1, 117, 118, 119, 127, 128, 16300, 16383, 16384, 3000000}) {
    const std::string image(length, 'x');
    ImagenetExample example;
    example.height = static_cast<std::int64_t>(length);
    example.width = 1;
    example.label = -1;
    example.synset = "n01440764";
    example.text = std::string(length % 1000, 't');
    example.filename = "a.JPEG";
    example.encoded = image;
    EXPECT_EQ(Joined(BuildExampleParts(example)), BuildImagenetExample(example))
        << length;
  }
}

TEST(ExamplePartsTest, AreWhatProtobufWritesOfPackedPixels) {
  const std::string pixels(4 * 32 * 32, 'p');
  ImagenetExample example;
  example.height = 32;
  example.width = 32;
  example.format = "packed";
  example.packed = pixels;
  EXPECT_EQ(Joined(BuildExampleParts(example)), BuildImagenetExample(example));
}

TEST(ExamplePartsTest, AreWhatProtobufWritesWithASeekIndex) {
  const std::string image = "JPEG";
  for (const std::size_t length : {1, 117, 127, 128, 300, 16384}) {
    const std::string index(length, 's');
    ImagenetExample example;
    example.encoded = image;
    example.seek_index = index;
    EXPECT_EQ(Joined(BuildExampleParts(example)), BuildImagenetExample(example))
        << length;
    // Pixels have none.
    example.packed = image;
    EXPECT_EQ(Joined(BuildExampleParts(example)), BuildImagenetExample(example))
        << length;
    EXPECT_EQ(BuildImagenetExample(example).find("seek"), std::string::npos);
  }
}

TEST(ExamplePartsTest, BorrowTheImage) {
  const std::string image = "JPEG";
  ImagenetExample example;
  example.encoded = image;
  EXPECT_EQ(BuildExampleParts(example).image.data(), image.data());
}

}  // namespace
}  // namespace infeed

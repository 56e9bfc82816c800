#include "records/example/parts.h"

#include <string>

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>

#include "tests/support/example.pb.h"

#include "gtest/gtest.h"

namespace infeed {
namespace {

// The same Example, written by protobuf with sorted keys.
std::string Rewritten(const std::string& bytes) {
  Example message;
  EXPECT_TRUE(message.ParseFromString(bytes));
  std::string written;
  {
    google::protobuf::io::StringOutputStream output(&written);
    google::protobuf::io::CodedOutputStream stream(&output);
    stream.SetSerializationDeterministic(true);
    EXPECT_TRUE(message.SerializeToCodedStream(&stream));
  }
  return written;
}

// Lengths around a varint's next byte, and values of every length of it.
TEST(ExamplePartsTest, AreWhatProtobufWrites) {
  for (const std::size_t length :
       {0, 1, 117, 118, 119, 127, 128, 16300, 16383, 16384, 3000000}) {
    const std::string image(length, 'x');
    const std::string bytes =
        BuildImagenetExample({.height = static_cast<std::int64_t>(length),
                              .width = 1,
                              .label = -1,
                              .synset = "n01440764",
                              .text = std::string(length % 1000, 't'),
                              .filename = "a.JPEG",
                              .encoded = image});
    EXPECT_EQ(bytes, Rewritten(bytes)) << length;
  }
}

TEST(ExamplePartsTest, AreWhatProtobufWritesOfPackedPixels) {
  const std::string pixels(4 * 32 * 32, 'p');
  const std::string bytes = BuildImagenetExample({.height = 32,
                                                  .width = 32,
                                                  .synset = "",
                                                  .text = "",
                                                  .filename = "",
                                                  .encoded = "",
                                                  .packed = pixels,
                                                  .format = "packed"});
  EXPECT_EQ(bytes, Rewritten(bytes));
}

TEST(ExamplePartsTest, AreWhatProtobufWritesWithASeekIndex) {
  for (const std::size_t length : {1, 117, 127, 128, 300, 16384}) {
    const std::string index(length, 's');
    ImagenetExample example;
    example.encoded = "JPEG";
    example.seek_index = index;
    const std::string bytes = BuildImagenetExample(example);
    EXPECT_EQ(bytes, Rewritten(bytes)) << length;
    EXPECT_NE(bytes.find("seek"), std::string::npos);
    example.packed = "pixels";  // which have no seek index
    const std::string packed = BuildImagenetExample(example);
    EXPECT_EQ(packed, Rewritten(packed)) << length;
    EXPECT_EQ(packed.find("seek"), std::string::npos);
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

#include "records/example/builder.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>

#include "records/example/imagenet_example.h"
#include "tests/support/example.pb.h"

#include "gtest/gtest.h"

namespace infeed {
namespace {

using Texts = std::vector<std::string_view>;
using Numbers = std::vector<std::int64_t>;

// Rewrites an Example by protobuf with sorted keys.
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
TEST(BuildImagenetExampleTest, IsWhatProtobufWrites) {
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

TEST(BuildImagenetExampleTest, IsWhatProtobufWritesWithASeekIndex) {
  for (const std::size_t length : {1, 117, 127, 128, 300, 16384}) {
    const std::string index(length, 's');
    ImagenetExample example = {.encoded = "JPEG", .seek_index = index};
    const std::string bytes = BuildImagenetExample(example);
    EXPECT_EQ(bytes, Rewritten(bytes)) << length;
    EXPECT_NE(bytes.find("seek"), std::string::npos);
    example.packed = "pixels";  // which have no seek index
    const std::string packed = BuildImagenetExample(example);
    EXPECT_EQ(packed, Rewritten(packed)) << length;
    EXPECT_EQ(packed.find("seek"), std::string::npos);
  }
}

TEST(BuildExamplePartsTest, BorrowsTheImage) {
  const std::string image = "JPEG";
  ImagenetExample example;
  example.encoded = image;
  EXPECT_EQ(BuildExampleParts(example).image.data(), image.data());
}

TEST(BuildExampleTest, IsTheInverseOfListFeatures) {
  const std::vector<ExampleFeature> features = {
      {.key = "empty", .values = {}},
      {.key = "ids", .values = Numbers{3, -1, INT64_MAX}},
      {.key = "names", .values = Texts{"a", "", "b\0c"}},
      {.key = "scores", .values = std::vector<float>{0.5F, -1}}};
  const std::string bytes = BuildExample(features);
  EXPECT_EQ(bytes, Rewritten(bytes));
  EXPECT_EQ(BuildExample(std::vector(features.rbegin(), features.rend())),
            bytes);
  const std::vector<ExampleFeature> read =
      ListFeatures(std::as_bytes(std::span(bytes)));
  ASSERT_EQ(read.size(), features.size());
  for (std::size_t i = 0; i < read.size(); ++i) {
    EXPECT_EQ(read[i].key, features[i].key);
    EXPECT_EQ(read[i].values, features[i].values);
  }
}

}  // namespace
}  // namespace infeed

#include "trainer/formats/safetensors.h"

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include "base/atomic_file.h"
#include "base/error.h"
#include "records/bytes/crc32c.h"
#include "tests/support/matchers.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/tensors.h"
#include "tests/support/throws.h"

namespace infeed::safetensors_test {

// The bytes of a safetensors file with any header, right or wrong.
std::string SafetensorsFile(std::string_view header,
                            std::string_view data = "") {
  const std::uint64_t length = header.size();
  std::string file(reinterpret_cast<const char*>(&length), sizeof length);
  return file.append(header).append(data);
}

TensorMap Parse(std::string_view file) {
  return ParseSafetensors(std::as_bytes(std::span(file)));
}

std::string ErrorOf(std::string_view header, std::string_view data = "") {
  return MessageOf<DataError>(
      [&] { (void)Parse(SafetensorsFile(header, data)); });
}

TensorMap SomeTensors() {
  return {{"bn.num_batches_tracked", IntTensor(7)},
          {"conv.weight", FloatTensor({1, 2, 3, 4, 5, 6}, {3, 2})},
          {"fc.bias", FloatTensor({0.5F})}};
}

class SafetensorsFileTest : public testing::Test {
 protected:
  TemporaryFolder folder_;
  std::string path_ = folder_.path() + "/x.safetensors";

  std::string Written(const TensorMap& tensors) {
    WriteSafetensors(path_, tensors);
    return ReadWholeFile(path_, 1 << 20);
  }
};

TEST_F(SafetensorsFileTest, ReadsWhatItWrote) {
  for (const TensorMap& tensors :
       {SomeTensors(), {}, {{"empty", FloatTensor({}, {0, 3})}}}) {
    WriteSafetensors(path_, tensors);
    EXPECT_EQ(ReadSafetensors(path_), tensors);
  }
}

TEST_F(SafetensorsFileTest, WritesTheFormat) {
  EXPECT_EQ(
      Written({{"a", FloatTensor({1}, {1, 1})}}),
      SafetensorsFile(R"({"__metadata__":{"format":"pt"},"a":{"dtype":"F32",)"
                      R"("shape":[1,1],"data_offsets":[0,4]}} )",
                      std::string_view("\0\0\x80\x3f", 4)));
}

TEST_F(SafetensorsFileTest, AlignsEveryTensorAndGivesSizeAndChecksum) {
  const FileSum sum = WriteSafetensors(path_, SomeTensors());
  const std::string file = ReadWholeFile(path_, 1 << 20);
  EXPECT_EQ(sum.size, static_cast<std::int64_t>(file.size()));
  EXPECT_EQ(sum.crc32c, Crc32c(std::as_bytes(std::span(file))));
  std::uint64_t length = 0;
  std::memcpy(&length, file.data(), sizeof length);
  EXPECT_EQ(length % 8, 0U);
  const auto header = nlohmann::json::parse(file.substr(8, length));
  EXPECT_EQ(header.size(), 4U);  // __metadata__ too
  EXPECT_EQ(header.at("bn.num_batches_tracked").at("data_offsets"),
            nlohmann::json({0, 8}));
  EXPECT_EQ(header.at("conv.weight").at("data_offsets"),
            nlohmann::json({8, 32}));
  EXPECT_EQ(Written(SomeTensors()), file);
}

TEST_F(SafetensorsFileTest, NamesTheFileInErrors) {
  WriteFileAtomically(path_, "short");
  EXPECT_THAT(MessageOf<DataError>([&] { (void)ReadSafetensors(path_); }),
              testing::AllOf(testing::StartsWith(path_ + ": "),
                             HasSubstr("too short")));
}

TEST_F(SafetensorsFileTest, RefusesALargeFileBeforeReadingIt) {
  WriteSafetensors(path_, SomeTensors());
  EXPECT_THAT(MessageOf<IoError>([&] { (void)ReadSafetensors(path_, 10); }),
              HasSubstr("more than the limit of 10"));
}

TEST_F(SafetensorsFileTest, NoticesEveryTruncation) {
  const std::string file = Written(SomeTensors());
  for (std::size_t size = 0; size < file.size(); ++size) {
    EXPECT_THROW((void)Parse(std::string_view(file).substr(0, size)), DataError)
        << size;
  }
}

TEST_F(SafetensorsFileTest, SurvivesEveryFlippedByte) {
  std::string file = Written(SomeTensors());
  for (char& byte : file) {
    for (const char mask : {1, 32, -1}) {
      byte = static_cast<char>(byte ^ mask);
      MessageOf<DataError>([&] { (void)Parse(file); });
      byte = static_cast<char>(byte ^ mask);
    }
  }
  EXPECT_EQ(Parse(file), SomeTensors());
}

TEST(SafetensorsTest, TakesTensorsInAnyOrder) {
  const TensorMap tensors = Parse(SafetensorsFile(
      R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[4,8]},)"
      R"("b":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}})",
      "bbbbaaaa"));
  EXPECT_EQ(tensors.at("a").bytes[0], std::byte{'a'});
}

TEST(SafetensorsTest, RefusesAHeaderThatDoesNotFitTheFile) {
  std::string file = SafetensorsFile("{}");
  file[0] = 3;
  EXPECT_THAT(MessageOf<DataError>([&] { (void)Parse(file); }),
              HasSubstr("the header claims 3 bytes; the file has 2"));
  std::memset(file.data(), 0xFF, 8);
  EXPECT_THAT(MessageOf<DataError>([&] { (void)Parse(file); }),
              HasSubstr("claims 18446744073709551615 bytes"));
  EXPECT_THAT(ErrorOf("{}" + std::string(100'000'000, ' ')),
              HasSubstr("the limit is 100000000"));
}

// The entry of a float32 tensor.
std::string Floats(const std::string& shape, const std::string& offsets) {
  return R"({"dtype":"F32","shape":)" + shape + R"(,"data_offsets":)" +
         offsets + "}";
}

TEST(SafetensorsTest, RefusesHeadersThatDoNotDescribeTheFile) {
  struct Refused {
    std::string header;
    std::string data;
    std::string why;
  };
  for (const auto& [header, data, why] : std::vector<Refused>{
           {"[]", "", "not a JSON object"},
           {"{", "", "not a JSON object"},
           {" {}", "", "not a JSON object"},
           {"{}x", "", "not a JSON object"},
           {R"({"a":{"shape":[[]]}})", "", "too deep"},
           {R"({"a":)" + Floats("[0]", "[0,0]") + R"(,"a":)" +
                Floats("[0]", "[0,0]") + "}",
            "", "has 'a' twice"},
           {R"({"a":{"dtype":"U8","shape":[2],"data_offsets":[0,2]}})", "ab",
            "tensor 'a' has type U8: only F16, BF16, F32, F64 and I64"},
           {R"({"a":1})", "", "is not described by"},
           {R"({"a":{"x":1,"y":1,"z":1}})", "", "has no dtype"},
           {R"({"a":{"dtype":"F32","shape":1,"z":1}})", "", "has no shape"},
           {R"({"a":{"dtype":"F32","shape":["1"],"z":1}})", "",
            "shape holds something else than numbers"},
           {R"({"a":{"dtype":"F32","shape":[-1],"z":1}})", "",
            "shape holds something else than numbers"},
           {R"({"__metadata__":{"a":1}})", "",
            "__metadata__ is not a map of strings"},
           {R"({"a":)" + Floats("[4294967296,4294967296]", "[0,0]") + "}", "",
            "a shape is too large"},
           {R"({"a":)" + Floats("[18446744073709551615]", "[0,4]") + "}", "",
            "a shape is too large"},
           {R"({"a":)" +
                Floats("[1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1]", "[0,4]") + "}",
            "1234", "has 17 dimensions, more than 16"},
           {R"({"a":)" + Floats("[2]", "[0,4]") + "}", "1234",
            "tensor 'a' has 4 bytes, its shape says 8"},
           {R"({"a":)" + Floats("[1]", "[4,0]") + "}", "1234",
            "data_offsets are not begin, end"},
           {R"({"a":)" + Floats("[1]", "[4,8]") + "}", "12345678",
            "tensor 'a' begins at byte 4, not at 0"},
           {R"({"a":)" + Floats("[2]", "[0,8]") + R"(,"b":)" +
                Floats("[1]", "[4,8]") + "}",
            "12345678", "tensor 'b' begins at byte 4, not at 8"},
           {R"({"a":)" + Floats("[1]", "[0,4]") + "}", "12345",
            "the tensors have 4 bytes, the file has 5"}}) {
    EXPECT_THAT(ErrorOf(header, data), HasSubstr(why)) << header;
  }
}

}  // namespace infeed::safetensors_test

#include "records/archives/tar_samples.h"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "base/atomic_file.h"
#include "base/error.h"
#include "records/bytes/sha256.h"
#include "records/tfrecord/byte_stream.h"
#include "tests/support/bytes.h"
#include "tests/support/hex.h"
#include "tests/support/matchers.h"
#include "tests/support/tar_file.h"
#include "tests/support/throws.h"

namespace infeed::tar_samples_test {

constexpr std::int64_t kAnyLength = std::numeric_limits<std::int64_t>::max();
const std::string kFolder = INFEED_TEST_DATA;

TarIndex Scan(std::string_view text, std::int64_t max_bytes = kAnyLength) {
  return ScanTar(BytesOf(AsBytes(text)), "x.tar", max_bytes).samples;
}

std::string_view ExtentOf(std::string_view text, const TarIndex& index,
                          std::size_t sample) {
  const std::int64_t begin = index.offsets.at(sample);
  const std::int64_t end =
      sample + 1 < index.offsets.size() ? index.offsets[sample + 1] : index.end;
  return text.substr(static_cast<std::size_t>(begin),
                     static_cast<std::size_t>(end - begin));
}

// "KEY ENDING,ENDING" of each sample.
std::vector<std::string> Samples(std::string_view text) {
  const TarIndex index = Scan(text);
  std::vector<std::string> samples;
  for (std::size_t i = 0; i < index.offsets.size(); ++i) {
    const TarSample sample = ParseTarSample(AsBytes(ExtentOf(text, index, i)));
    std::string line = sample.key;
    for (const SamplePart& part : sample.parts) {
      line += (&part == &sample.parts.front() ? " " : ",") + part.ending;
    }
    samples.push_back(std::move(line));
  }
  return samples;
}

// The error of a sample.
std::string Fault(std::string_view sample) {
  return MessageOf<DataError>([&] { (void)ParseTarSample(AsBytes(sample)); });
}

std::string Sha256Of(std::span<const std::byte> bytes) {
  Sha256 hash;
  hash.Add(bytes);
  return Hex(hash.Finish());
}

class SampleGoldenTest : public ::testing::TestWithParam<const char*> {};

TEST_P(SampleGoldenTest, HasTheSamplesThatWebdatasetReads) {
  const auto goldens = nlohmann::json::parse(
      ReadWholeFile(kFolder + "/webdataset_goldens.json", 1 << 20));
  const auto& expected = goldens.at(GetParam()).at("samples");
  const std::string text =
      ReadWholeFile(kFolder + "/webdataset/" + GetParam() + ".tar", 1 << 20);
  const TarIndex index = Scan(text);
  ASSERT_EQ(index.offsets.size(), expected.size());
  ASSERT_EQ(index.labels.size(), expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const TarSample sample = ParseTarSample(AsBytes(ExtentOf(text, index, i)));
    EXPECT_EQ(ToHex(sample.key), expected[i].at("key"));
    EXPECT_EQ(index.labels[i], expected[i].at("label")) << sample.key;
    nlohmann::json parts = nlohmann::json::array();
    for (const SamplePart& part : sample.parts) {
      parts.push_back(
          {{"ending", ToHex(part.ending)}, {"sha256", Sha256Of(part.bytes)}});
    }
    EXPECT_EQ(parts, expected[i].at("parts")) << sample.key;
  }
}

INSTANTIATE_TEST_SUITE_P(All, SampleGoldenTest,
                         ::testing::Values("webdataset", "ustar", "gnu", "pax",
                                           "tar_v7", "tar_ustar", "tar_gnu",
                                           "tar_pax"),
                         [](const auto& golden) {
                           return std::string(golden.param);
                         });

TEST(TarSamplesTest, AFileAndAStreamHaveTheSameIndex) {
  const FileSource file(kFolder + "/webdataset/pax.tar");
  const TarIndex index = Scan(ReadWholeFile(file.path(), 1 << 20));
  EXPECT_EQ(ScanTar(BytesOf(file), file.path(), kAnyLength).samples, index);
  StreamBuffer buffer(OpenStream(file), 512);
  std::int64_t seen = 0;
  const auto from_stream = [&](std::int64_t offset, std::size_t bytes) {
    // Drops what is before, so that going back would abort.
    (void)buffer.View(seen, static_cast<std::size_t>(offset - seen));
    buffer.Release(offset);
    seen = offset;
    return buffer.View(offset, bytes);
  };
  EXPECT_EQ(ScanTar(from_stream, file.path(), kAnyLength).samples, index);
}

TEST(TarSamplesTest, OtherMembersDoNotEndASample) {
  const std::string text = TarFile()
                               .Add("first/", "", '5')
                               .Add("readme", "not in any extent")
                               .Add("a.jpg", "1")
                               .Add("sub/", "", '5')
                               .Add("sub/.DS_Store", "hidden")
                               .Add("._a.jpg", "hidden")
                               .Add("__meta__/b.jpg", "2")
                               .Add("pipe.jpg", "", '6')
                               .Add("noending", "3")
                               .Add("a.cls", "4")
                               .Add("more", "")
                               .Add("b.jpg", "5")
                               .Add("last", "")
                               .End()
                               .text();
  EXPECT_THAT(Samples(text), ElementsAre("a jpg,cls", "b jpg"));
  const TarIndex index = Scan(text);
  EXPECT_THAT(index.offsets, ElementsAre(3 * 512, 18 * 512));
  EXPECT_EQ(index.end, 20 * 512);
  EXPECT_THAT(index.labels, ElementsAre(4, kNoLabel));
}

TEST(TarSamplesTest, ATarWithoutSamplesHasNone) {
  EXPECT_EQ(Scan(TarFile().Add("readme", "").End().text()), TarIndex());
  EXPECT_EQ(Scan(""), TarIndex());
}

TEST(TarSamplesTest, ThePartsAreTheMembersBytes) {
  const TarFile tar = TarFile().Add("f/a.jpg", "image").Add("f/a.B.C", "");
  const TarSample sample = ParseTarSample(AsBytes(tar.text()));
  EXPECT_EQ(sample.key, "f/a");
  ASSERT_EQ(sample.parts.size(), 2U);
  EXPECT_EQ(sample.parts[0].name, "f/a.jpg");
  EXPECT_EQ(AsText(sample.parts[0].bytes), "image");
  EXPECT_EQ(sample.parts[1].ending, "b.c");
  EXPECT_EQ(sample.parts[1].name, "f/a.B.C");
  EXPECT_THAT(sample.parts[1].bytes, IsEmpty());
}

TEST(TarSamplesTest, TooLongSamplesAreBadData) {
  const std::string text =
      TarFile().Add("a.jpg", "1").Add("b.jpg", "2").Add("b.cls", "3").text();
  EXPECT_EQ(Scan(text, 2048).offsets.size(), 2U);
  EXPECT_EQ(MessageOf<DataError>([&] { (void)Scan(text, 2047); }),
            "x.tar: record 1 at byte 1024: the sample b takes 2048 bytes, more "
            "than the limit of 2047");
  // Members between samples count.
  EXPECT_EQ(
      MessageOf<DataError>([&] {
        (void)Scan(TarFile().Add("a.jpg", "1").Add("readme", "").text() + text,
                   1024);
      }),
      "x.tar: record 0 at byte 0: the sample a takes 2560 bytes, more than the "
      "limit of 1024");
}

TEST(TarSamplesTest, LinksAndSparseFilesMakeABadSample) {
  for (const auto& [name, samples] :
       {std::pair("links", 4), std::pair("tar_sparse_gnu", 3),
        std::pair("tar_sparse_00", 3), std::pair("tar_sparse_10", 3)}) {
    const std::string text =
        ReadWholeFile(kFolder + "/webdataset/" + name + ".tar", 1 << 20);
    const TarIndex index = Scan(text);
    EXPECT_EQ(std::ssize(index.offsets), samples) << name;
    std::vector<std::string> faults;
    for (std::size_t i = 0; i < index.offsets.size(); ++i) {
      faults.push_back(Fault(ExtentOf(text, index, i)));
    }
    EXPECT_EQ(faults[0], "") << name;
    EXPECT_THAT(
        faults[1],
        HasSubstr(samples == 4 ? "tar member 2.jpg: is a link: pack"
                               : "tar member 2.jpg: is a sparse file: pack"));
    EXPECT_THAT(faults[2], HasSubstr(samples == 4 ? "tar member 3.jpg" : ""));
    EXPECT_EQ(faults.back(), "") << name;
  }
}

TEST(TarSamplesTest, SomeNamesMakeABadSample) {
  for (const std::string name : {"/a.jpg", "../a.jpg", "a/../../b.jpg"}) {
    const std::string text = TarFile().Add(name, "1").text();
    EXPECT_EQ(Scan(text).offsets.size(), 1U);
    EXPECT_EQ(Fault(text),
              "tar member " + name + ": its name leads out of the archive");
  }
  for (const std::string name : {"a.JPG", "a.__key__", "a.__URL__"}) {
    const std::string text = TarFile().Add("a.jpg", "1").Add(name, "2").text();
    EXPECT_EQ(Scan(text).offsets.size(), 1U);
    EXPECT_EQ(Fault(text),
              "tar member " + name + ": its sample has that ending already");
  }
}

TEST(TarSamplesTest, AnExtentCutShortIsBadData) {
  const std::string whole = TarFile()
                                .Add("L", "folder/a.jpg", 'L')
                                .Add("short", std::string(600, 'x'))
                                .Add("folder/a.cls", "1")
                                .text();
  EXPECT_EQ(ParseTarSample(AsBytes(whole)).parts.size(), 2U);
  for (std::size_t size = 0; size < whole.size(); ++size) {
    // Without its last member it is a shorter sample.
    EXPECT_EQ(Fault(std::string_view(whole).substr(0, size)).empty(),
              size == 5 * 512)
        << size;
  }
  EXPECT_EQ(Fault(whole.substr(0, 4 * 512)),
            "the sample is cut short in tar member folder/a.jpg");
  EXPECT_EQ(Fault(whole.substr(0, 5 * 512 + 9)),
            "the tar is cut short in a header (at byte 2560 of the sample)");
}

TEST(TarSamplesTest, AFileThatChangedIsBadData) {
  const std::string sample = TarFile().Add("a.jpg", "1").text();
  const std::string changed = "the file changed after it was indexed: ";
  EXPECT_EQ(Fault(std::string(1024, 'x')),
            changed + "no tar header begins here");
  EXPECT_EQ(Fault(""), changed + "no tar header begins here");
  EXPECT_EQ(Fault(sample + std::string(1024, '\0')),
            changed + "the tar ends inside the sample, or it has no members");
  EXPECT_EQ(Fault(TarFile().Add("readme", "1").text()),
            changed + "the tar ends inside the sample, or it has no members");
  EXPECT_EQ(Fault(sample + TarFile().Add("b.jpg", "1").text()),
            changed + "tar member b.jpg is of the next sample");
  EXPECT_EQ(Fault(sample + std::string(512, 'x')),
            "the checksum of a tar header does not match (at byte 1024 of the "
            "sample)");
}

std::vector<std::int64_t> Labels(const TarFile& tar) {
  return Scan(tar.text()).labels;
}

TEST(TarSamplesTest, LabelsAreWholeNumbersInClsElseInJson) {
  for (const auto& [text, label] : {std::pair("7", 7),
                                    {" 12\r\n", 12},
                                    {"007", 7},
                                    {"-2", -2},
                                    {"", -1},
                                    {"\n", -1},
                                    {"1.0", -1},
                                    {"0x1", -1},
                                    {"cat", -1},
                                    {"9223372036854775808", -1}}) {
    EXPECT_THAT(Labels(TarFile().Add("a.cls", text)), ElementsAre(label))
        << text;
  }
  EXPECT_THAT(Labels(TarFile().Add("a.cls", std::string(70, ' ') + "1")),
              ElementsAre(-1));
  for (const auto& [text, label] : {std::pair(R"({"label": 3, "cls": 4})", 3),
                                    {R"({"class": 5, "cls": 4})", 4},
                                    {R"({"class": 5})", 5},
                                    {R"({"label": null})", -1},
                                    {R"({"label": "cat", "class": 5})", 5},
                                    {R"({"label": 1.5})", -1},
                                    {"[3]", -1},
                                    {R"({"label": 18446744073709551615})", -1},
                                    {R"({"inner": {"label": 1}})", -1},
                                    {"{", -1},
                                    {"", -1},
                                    {"\xFF", -1}}) {
    EXPECT_THAT(Labels(TarFile().Add("a.json", text)), ElementsAre(label))
        << text;
  }
  const std::string json = R"({"label": 3})";
  for (const auto& [cls, label] : {std::pair("4", 4), {"cat", -1}, {"", -1}}) {
    EXPECT_THAT(Labels(TarFile().Add("a.json", json).Add("a.cls", cls)),
                ElementsAre(label));
    EXPECT_THAT(Labels(TarFile().Add("a.cls", cls).Add("a.json", json)),
                ElementsAre(label));
  }
  EXPECT_THAT(Labels(TarFile()
                         .Add("a.cls", "4")
                         .Add("b.json", json)
                         .Add("c.jpg", "")
                         .Add("a.cls", "5")),
              ElementsAre(4, 3, -1, 5));
  for (const auto& [ending, text, is_given] :
       {std::tuple("txt", "3", false),
        {"cls", "3", true},
        {"cls", "", true},
        {"json", R"({"cls": "x"})", false},
        {"json", "{}", false}}) {
    EXPECT_EQ(ParseTarLabel(ending, AsBytes(text)).is_given, is_given) << text;
  }
}

TEST(TarSamplesTest, LongJsonIsNotReadForALabel) {
  const std::string json = R"({"label": 3})";
  const auto limit = static_cast<std::size_t>(kMaxLabelJsonBytes);
  const std::string fits = json + std::string(limit - json.size(), ' ');
  EXPECT_THAT(Labels(TarFile().Add("a.json", fits)), ElementsAre(3));
  EXPECT_THAT(Labels(TarFile().Add("a.json", fits + " ")), ElementsAre(-1));
  EXPECT_FALSE(ParseTarLabel("json", AsBytes(fits + " ")).is_given);
}

TEST(TarSamplesTest, ImageEndingsHaveNoDot) {
  for (const char* ending : {"jpg", "jpeg", "png", "webp", "JPG", "tiff"}) {
    EXPECT_TRUE(IsImageEnding(ending)) << ending;
  }
  for (const char* ending : {"", "seg.jpg", "_a.jpg", "cls", "jpg.txt", "x"}) {
    EXPECT_FALSE(IsImageEnding(ending)) << ending;
  }
}

// Takes memory for offsets and labels, and for one page.
TEST(TarSamplesTest, ManySmallSamplesAreFound) {
  constexpr std::int64_t kSamples = 20'000;
  TarSink sink;
  TarWriter writer(sink);
  for (std::int64_t i = 0; i < kSamples; ++i) {
    writer.Add(std::to_string(i) + ".cls", AsBytes("7"));
  }
  writer.Finish();
  const MemorySource source("x.tar", sink.text());
  std::size_t most = 0;
  const ReadTarBytes read = BytesOf(source);
  const TarIndex index = ScanTar(
                             [&](std::int64_t offset, std::size_t bytes) {
                               most = std::max(most, bytes);
                               return read(offset, bytes);
                             },
                             "x.tar", kAnyLength)
                             .samples;
  EXPECT_LE(most, 513U);
  EXPECT_EQ(index.labels, std::vector<std::int64_t>(kSamples, 7));
  EXPECT_EQ(index.end, kSamples * 1024);
  EXPECT_EQ(std::ssize(index.offsets), kSamples);
}

}  // namespace infeed::tar_samples_test

#include "records/archives/tar_member.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "base/atomic_file.h"
#include "base/error.h"
#include "records/tfrecord/byte_stream.h"
#include "tests/support/bytes.h"
#include "tests/support/hex.h"
#include "tests/support/matchers.h"
#include "tests/support/tar_file.h"
#include "tests/support/throws.h"

namespace infeed::tar_member_test {

const std::string kFolder = INFEED_TEST_DATA;

std::string Archive(const std::string& name) {
  return ReadWholeFile(kFolder + "/webdataset/" + name + ".tar", 1 << 20);
}

std::vector<TarMember> WalkAll(const ReadTarBytes& read) {
  // The walk promises that its offsets never decrease.
  std::int64_t last = 0;
  TarWalk walk(
      [&](std::int64_t offset, std::size_t bytes) {
        EXPECT_GE(offset, std::exchange(last, offset));
        return read(offset, bytes);
      },
      "x.tar");
  std::vector<TarMember> members;
  while (std::optional<TarMember> member = walk.Next()) {
    members.push_back(*std::move(member));
  }
  EXPECT_EQ(walk.Next(), std::nullopt) << "the end stays the end";
  return members;
}

std::vector<TarMember> Walk(std::string_view text) {
  return WalkAll(BytesOf(AsBytes(text)));
}

std::string Fault(std::string_view text) {
  return MessageOf<DataError>([&] { (void)Walk(text); });
}

std::vector<std::string> Names(std::string_view text) {
  std::vector<std::string> names;
  for (const TarMember& member : Walk(text)) {
    names.push_back(member.name);
  }
  return names;
}

constexpr const char* kKindNames[] = {"file", "folder", "link", "sparse",
                                      "other"};

std::string PaxRecord(const std::string& text) {
  std::size_t length = text.size() + 2;
  while (std::to_string(length).size() + text.size() + 2 != length) {
    ++length;
  }
  return std::to_string(length) + " " + text + "\n";
}

// Pax headers, for the member behind them.
TarFile Pax(const std::string& records, char type = 'x') {
  return TarFile().Add("x", records, type);
}

// A header's size field: a byte that marks binary numbers, then its digits.
std::string Binary(char mark, const std::string& digits) {
  std::string field(12, mark == '\xFF' ? '\xFF' : '\0');
  field[0] = mark;
  return field.replace(12 - digits.size(), digits.size(), digits);
}

class TarGoldenTest : public ::testing::TestWithParam<const char*> {};

TEST_P(TarGoldenTest, HasTheMembersThatPythonReads) {
  const auto goldens = nlohmann::json::parse(
      ReadWholeFile(kFolder + "/webdataset_goldens.json", 1 << 20));
  const auto& expected = goldens.at(GetParam()).at("members");
  const std::vector<TarMember> members = Walk(Archive(GetParam()));
  ASSERT_EQ(members.size(), expected.size());
  std::int64_t end = 0;
  for (std::size_t i = 0; i < members.size(); ++i) {
    const TarMember& member = members[i];
    EXPECT_EQ(ToHex(member.name), expected[i].at("name"));
    EXPECT_EQ(kKindNames[static_cast<int>(member.kind)],
              expected[i].at("kind"));
    EXPECT_EQ(member.begin, std::exchange(end, member.end));
    EXPECT_EQ(member.end, member.data + TarPadded(member.bytes));
    if (member.kind != TarKind::kSparse) {
      EXPECT_EQ(member.data, expected[i].at("data"));
      EXPECT_EQ(member.bytes, expected[i].at("bytes"));
    }
  }
}

bool IsSame(const TarMember& a, const TarMember& b) {
  return a.name == b.name && a.kind == b.kind && a.begin == b.begin &&
         a.data == b.data && a.bytes == b.bytes && a.end == b.end;
}

TEST_P(TarGoldenTest, IsTheSameFromAFileAndFromAStream) {
  const std::string path =
      kFolder + "/webdataset/" + GetParam() + std::string(".tar");
  const std::vector<TarMember> members = Walk(Archive(GetParam()));
  const FileSource file(path);
  EXPECT_TRUE(std::ranges::equal(WalkAll(BytesOf(file)), members, IsSame));
  StreamBuffer buffer(OpenStream(file), 512);
  const auto from_stream = [&](std::int64_t offset, std::size_t bytes) {
    (void)buffer.View(0, static_cast<std::size_t>(offset));
    return buffer.View(offset, bytes);
  };
  EXPECT_TRUE(std::ranges::equal(WalkAll(from_stream), members, IsSame));
}

// Cut anywhere, a walk gives the first members, and fails unless the cut is
// between two of them.
TEST_P(TarGoldenTest, CutShortIsBadData) {
  const std::string whole = Archive(GetParam());
  const std::vector<TarMember> members = Walk(whole);
  for (std::size_t size = 0; size < whole.size(); ++size) {
    if (size % 512 > 1 && size % 512 < 511 && size % 101 != 0) {
      continue;
    }
    const auto text = std::string_view(whole).substr(0, size);
    const auto cut = static_cast<std::int64_t>(size);
    const bool is_between =
        cut == 0 || cut >= members.back().end + 512 ||
        std::ranges::find(members, cut, &TarMember::end) != members.end();
    TarWalk walk(BytesOf(AsBytes(text)), "x.tar");
    std::size_t found = 0;
    const std::string fault = MessageOf<DataError>([&] {
      while (const std::optional<TarMember> member = walk.Next()) {
        ASSERT_TRUE(IsSame(*member, members.at(found++)));
      }
    });
    EXPECT_EQ(fault.empty(), is_between) << size << ": " << fault;
    if (!is_between) {
      EXPECT_THAT(fault, HasSubstr("x.tar: at byte "));
      EXPECT_THAT(fault, HasSubstr("cut short"));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(
    All, TarGoldenTest,
    ::testing::Values("webdataset", "ustar", "gnu", "pax", "links", "tar_v7",
                      "tar_ustar", "tar_gnu", "tar_pax", "tar_sparse_gnu",
                      "tar_sparse_00", "tar_sparse_10"),
    [](const auto& golden) { return std::string(golden.param); });

TEST(TarMemberTest, EndsAtZerosOrAtTheEndOfTheBytes) {
  const std::string text = TarFile().Add("a", "1").Add("b", "").text();
  EXPECT_THAT(Names(text), ElementsAre("a", "b"));
  EXPECT_THAT(Names(text + std::string(512, '\0')), ElementsAre("a", "b"));
  EXPECT_THAT(Names(text + std::string(700, '\0')), ElementsAre("a", "b"));
  for (const std::size_t zeros : {1024, 10240, 300'000}) {
    EXPECT_THAT(Names(text + std::string(zeros, '\0')), ElementsAre("a", "b"));
  }
  EXPECT_THAT(Names(""), ElementsAre());
}

TEST(TarMemberTest, DataBehindTheEndAreBadData) {
  const std::string one = TarFile().Add("a", "1").text();
  for (const std::size_t zeros : {1024, 10240, 300'000}) {
    const std::string end = one + std::string(zeros, '\0');
    EXPECT_EQ(Fault(end + one),
              "x.tar: at byte " + std::to_string(end.size()) +
                  ": data behind the end of the tar, such as of a second one "
                  "behind it: make a file of each, or join them by tar "
                  "--concatenate");
    EXPECT_THAT(Fault(end + std::string(100, '\0') + "x"),
                HasSubstr("data behind the end"));
  }
}

TEST(TarMemberTest, AZeroedHeaderIsNoEnd) {
  std::string text = TarFile().Add("a", "").Add("b", "").Add("c", "").text();
  text.replace(512, 512, 512, '\0');
  EXPECT_EQ(Fault(text),
            "x.tar: at byte 512: a block of zeros in the place of a header");
}

TEST(TarMemberTest, DamagedHeadersAreBadData) {
  const std::string text = TarFile().Add("a", "1").Add("b", "2").End().text();
  for (std::size_t i = 1024; i < 1536; ++i) {
    std::string damaged = text;
    damaged[i] = static_cast<char>(damaged[i] ^ 0x10);
    // In the checksum's own field a first zero becomes a blank, and the last
    // byte does not count.
    if (i != 1024 + kTarChecksum.begin && i != 1024 + kTarChecksum.begin + 7) {
      EXPECT_EQ(Fault(damaged),
                "x.tar: at byte 1024: the checksum of a tar header does not "
                "match")
          << i;
    }
  }
}

TEST(TarMemberTest, OldChecksumsOfSignedBytesAreRead) {
  std::string text = TarFile().Add("caf\xC3\xA9", "1").text();
  // Two bytes above 127 count 256 less each.
  std::int64_t sum = TarChecksum(AsBytes(text.substr(0, 512))) - 512;
  for (std::size_t i = 6; i-- > 0; sum /= 8) {
    text[kTarChecksum.begin + i] = static_cast<char>('0' + sum % 8);
  }
  EXPECT_THAT(Names(text), ElementsAre("caf\xC3\xA9"));
  text[kTarChecksum.begin + 5] ^= 1;
  EXPECT_THAT(Fault(text), HasSubstr("the checksum"));
}

TEST(TarMemberTest, SizesThatLieAreBadData) {
  const std::string unusable =
      ": its size is not a number, negative or too large";
  for (const std::string& size :
       {std::string("-0000000001"), std::string("0000000008x"),
        std::string("1 2"), Binary('\xFF', "\xFF\xFF"),
        Binary('\x80', std::string("\x80") + std::string(7, '\0')),
        Binary('\x80', std::string(11, '\xFF')), Binary('\x81', "1")}) {
    const std::string text = TarFile().AddHeader("a/b.jpg", size).text();
    EXPECT_EQ(Fault(text), "x.tar: at byte 0: a/b.jpg" + unusable) << size;
  }
}

TEST(TarMemberTest, SizesBeyondTheEndAreBadData) {
  for (const std::string& size :
       {std::string("00000004001"), std::string("77777777777"),
        Binary('\x80', std::string("\x20") + std::string(7, '\0'))}) {
    const std::string text =
        TarFile().AddHeader("a.jpg", size).AddData("short").End().text();
    TarWalk walk(BytesOf(AsBytes(text)), "x.tar");
    EXPECT_EQ(walk.Next()->name, "a.jpg");
    EXPECT_THAT(MessageOf<DataError>([&] { (void)walk.Next(); }),
                HasSubstr("the tar is cut short: a.jpg should end here"));
  }
  const std::string largest =
      TarFile()
          .AddHeader("a.jpg", Binary('\x80', "\x3F" + std::string(7, '\xFF')))
          .text();
  EXPECT_THAT(
      Fault(largest),
      HasSubstr("a.jpg: its size of 4611686018427387903 bytes is too large"));
}

// An archive of a large file and a small one, of which only the headers and
// what is just before them are in memory.
TEST(TarMemberTest, LargeSizesAreRead) {
  for (const std::string& start :
       {TarFile()
            .AddHeader("large",
                       Binary('\x80', std::string("\x02\x80\0\0\1", 5)))
            .text(),
        Pax(PaxRecord("size=10737418241"))
            .AddHeader("large", "00000000000")
            .text()}) {
    const auto start_bytes = std::ssize(start);
    const std::int64_t end = start_bytes + 10'737'418'752;
    const std::string rest =
        std::string(512, '\0') + TarFile().Add("next", "").text();
    const std::vector<TarMember> members =
        WalkAll([&](std::int64_t offset, std::size_t bytes) {
          return offset < start_bytes
                     ? BytesOf(AsBytes(start))(offset, bytes)
                     : BytesOf(AsBytes(rest))(offset - (end - 512), bytes);
        });
    ASSERT_EQ(members.size(), 2U);
    EXPECT_EQ(members[0].bytes, 10'737'418'241);
    EXPECT_EQ(members[1].begin, end);
  }
}

TEST(TarMemberTest, LinksAndFoldersHaveNoData) {
  for (const char type : {'1', '2', '3', '4', '5', '6'}) {
    const std::string text =
        TarFile().AddHeader("a", "00000001000", type).Add("b", "").text();
    EXPECT_THAT(Names(text), ElementsAre("a", "b")) << type;
    EXPECT_EQ(Walk(text)[0].bytes, 0);
  }
}

TEST(TarMemberTest, LinksLeadFromTheRootOrTheirFolder) {
  const std::string text = Pax(PaxRecord("linkpath=long/pax"))
                               .AddLink("a/1", "short", '1')
                               .Add("K", std::string("long/gnu\0", 9), 'K')
                               .AddLink("a/2", "short", '2')
                               .AddLink("a/3", "b/c", '1')
                               .AddLink("a/4", "../b", '2')
                               .AddLink("a/5", "/b", '2')
                               .Add("a/6", "")
                               .text();
  std::vector<std::string> links;
  for (const TarMember& member : Walk(text)) {
    links.push_back(member.link);
  }
  EXPECT_THAT(links,
              ElementsAre("long/pax", "a/long/gnu", "b/c", "a/../b", "/b", ""));
}

TEST(TarMemberTest, KindsAreThoseOfTheirTypes) {
  for (const auto& [name, type, kind] : {std::tuple("a", '\0', TarKind::kFile),
                                         {"a/", '\0', TarKind::kFolder},
                                         {"a", '7', TarKind::kFile},
                                         {"a", '1', TarKind::kLink},
                                         {"a", '2', TarKind::kLink},
                                         {"a", 'S', TarKind::kSparse},
                                         {"a", 'V', TarKind::kOther},
                                         {"a", '6', TarKind::kOther}}) {
    EXPECT_EQ(Walk(TarFile().Add(name, "", type).text()).at(0).kind, kind)
        << type;
  }
}

TEST(TarMemberTest, ExtensionsReplaceNameAndSize) {
  const std::string text = Pax(PaxRecord("path=long/name/"))
                               .Add("L", std::string("gnu\0", 4), 'L')
                               .Add("K", "a link's target", 'K')
                               .AddHeader("short", "00000000000")
                               .Add("next", "")
                               .text();
  EXPECT_THAT(Names(text), ElementsAre("long/name", "next"));
  EXPECT_EQ(Walk(text)[0].begin, 0);
  EXPECT_EQ(Walk(text)[0].data, 7 * 512);
  EXPECT_THAT(Names(Pax("").Add("a", "").text()), ElementsAre("a"));
  EXPECT_THAT(Names(Pax(PaxRecord("path=") + PaxRecord("size="), 'X')
                        .Add("short", "1")
                        .text()),
              ElementsAre("short"));
}

TEST(TarMemberTest, MalformedPaxHeadersAreBadData) {
  const std::string prefix = "x.tar: at byte 0: a pax header is malformed: ";
  for (const char* records :
       {"x", "0 path=a\n", "5 path=a\n", "99999999999999999999999 path=a\n",
        "18446744073709551615 path=a\n", "-9 path=a\n", "11 path=a\n", "2 ",
        "2\n", " 9 path=a\n", "9_path=a\n", "10 path=a\n\n"}) {
    EXPECT_EQ(Fault(Pax(records).Add("a", "").text()),
              prefix + "a record's length is wrong")
        << records;
  }
  for (const char* records : {"8 value\n", "3 \n"}) {
    EXPECT_EQ(Fault(Pax(records).text()), prefix + "a record without a value");
  }
  for (const std::string size :
       {"-1", "1.5", "0x10", "9223372036854775808", " 1"}) {
    EXPECT_THAT(Fault(Pax(PaxRecord("size=" + size)).text()),
                HasSubstr("a pax header's size is not a number, negative or "
                          "too large"));
  }
}

TEST(TarMemberTest, LongExtensionsAreBadDataBeforeTheyAreRead) {
  for (const auto& [type, size] :
       {std::pair('x', "00004000001"), std::pair('g', "77777777777"),
        std::pair('L', "00000200002"), std::pair('K', "00000200002")}) {
    const std::string text =
        TarFile().AddHeader("x", size, type).AddData("1").text();
    std::size_t most = 0;
    const auto read = [&](std::int64_t offset, std::size_t bytes) {
      most = std::max(most, bytes);
      return BytesOf(AsBytes(text))(offset, bytes);
    };
    EXPECT_THAT(MessageOf<DataError>([&] { (void)WalkAll(read); }),
                HasSubstr("an extension header has "));
    EXPECT_LE(most, 1024U);
  }
}

TEST(TarMemberTest, LongNamesAreBadData) {
  const std::string name(kMaxTarNameBytes, 'n');
  const auto gnu = [](const std::string& data) {
    return TarFile().Add("L", data, 'L').Add("", "").text();
  };
  const auto pax = [](const std::string& path) {
    return Pax(PaxRecord("path=" + path)).Add("", "").text();
  };
  EXPECT_THAT(Names(gnu(name + '\0') + pax(name)), ElementsAre(name, name));
  for (const std::string& text :
       {gnu(name + 'n'), pax(name + 'n'), pax(std::string("a\0b", 3))}) {
    EXPECT_THAT(
        Fault(text),
        HasSubstr("a member's name is longer than 64 KiB or has a NUL"));
  }
}

TEST(TarMemberTest, GlobalNamesAndSizesAreBadData) {
  EXPECT_THAT(Names(Pax(PaxRecord("comment=text"), 'g').Add("a", "").text()),
              ElementsAre("a"));
  for (const char* record : {"path=a", "size=1", "GNU.sparse.major=1"}) {
    EXPECT_THAT(
        Fault(Pax(PaxRecord(record), 'g').Add("a", "").text()),
        HasSubstr("a global pax header gives all members one name or size"));
  }
}

TEST(TarMemberTest, AnExtensionWithoutItsMemberIsBadData) {
  TarFile tar = Pax(PaxRecord("path=a"));
  const std::string fault =
      "x.tar: at byte 1024: the tar is cut short: an extension header without "
      "its member";
  EXPECT_EQ(Fault(tar.text()), fault);
  EXPECT_EQ(Fault(tar.End().text()), fault);
}

TEST(TarMemberTest, AWalkMayBeginAtAnyMember) {
  const std::string text = TarFile().Add("a", "1").Add("b", "2").text();
  TarWalk walk(BytesOf(AsBytes(text)), "x.tar", 1024);
  EXPECT_EQ(walk.Next()->name, "b");
  EXPECT_EQ(walk.Next(), std::nullopt);
}

TEST(TarMemberTest, IsTarByItsFirstBlock) {
  const std::string text = TarFile().Add("a", "").text();
  EXPECT_TRUE(IsTar(AsBytes(text)));
  EXPECT_TRUE(IsTar(AsBytes(text + "more")));
  EXPECT_FALSE(IsTar(AsBytes(text.substr(0, 511))));
  EXPECT_FALSE(IsTar(AsBytes(std::string(512, '\0'))));
  EXPECT_FALSE(IsTar(AsBytes(std::string(512, 'a'))));
  EXPECT_FALSE(IsTar({}));
}

TEST(TarMemberTest, NamesInMessagesArePrintable) {
  EXPECT_EQ(TarNameForMessages("a/K\u00e4se.jpg"), "a/K\u00e4se.jpg");
  EXPECT_EQ(TarNameForMessages("\x1B[31m\n\x7F"), "?[31m??");
  EXPECT_EQ(TarNameForMessages("\xFF\xC3\xA4"), "???");
  EXPECT_EQ(TarNameForMessages(std::string(300, 'a')),
            std::string(200, 'a') + "...");
}

TEST(TarMemberTest, SomeNamesLeadOut) {
  for (const char* name : {"/a", "..", "../a", "a/../b", "a/..", "a//../b"}) {
    EXPECT_TRUE(TarNameLeadsOut(name)) << name;
  }
  for (const char* name :
       {"", "a", "./a", "a/b", "..a/b", "a/b..", "a/.../b"}) {
    EXPECT_FALSE(TarNameLeadsOut(name)) << name;
  }
}

}  // namespace infeed::tar_member_test

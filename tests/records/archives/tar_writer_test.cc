#include "records/archives/tar_writer.h"

#include <sys/mman.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/atomic_file.h"
#include "base/error.h"
#include "records/archives/tar_member.h"
#include "tests/support/bytes.h"
#include "tests/support/matchers.h"
#include "tests/support/tar_file.h"
#include "tests/support/throws.h"

namespace infeed::tar_writer_test {

using Files = std::vector<std::pair<std::string, std::string>>;

std::string Write(const Files& files) {
  TarSink sink;
  TarWriter writer(sink);
  for (const auto& [name, data] : files) {
    writer.Add(name, AsBytes(data));
  }
  writer.Finish();
  return sink.text();
}

std::string_view Slice(std::string_view text, std::int64_t begin,
                       std::int64_t end) {
  return text.substr(static_cast<std::size_t>(begin),
                     static_cast<std::size_t>(end - begin));
}

Files Read(std::string_view text) {
  TarWalk walk(BytesOf(AsBytes(text)), "x.tar");
  Files files;
  while (const std::optional<TarMember> member = walk.Next()) {
    EXPECT_EQ(member->kind, TarKind::kFile);
    files.emplace_back(member->name,
                       Slice(text, member->data, member->data + member->bytes));
  }
  return files;
}

TEST(TarWriterTest, WritesWhatIsRead) {
  const Files files = {{"a.jpg", "image"},
                       {"a.cls", ""},
                       {"f/b.txt", std::string(512, 'x')},
                       {"f/b.cls", std::string(513, '\0')}};
  const std::string text = Write(files);
  EXPECT_EQ(Read(text), files);
  EXPECT_EQ(text.size(), 512U * (2 + 1 + 2 + 3 + 2));
  EXPECT_EQ(text.substr(text.size() - 1024), std::string(1024, '\0'));
  EXPECT_EQ(Write({}), std::string(1024, '\0'));
}

TEST(TarWriterTest, NamesOfAnyLengthAreRead) {
  for (std::size_t length = 1; length <= 400; ++length) {
    std::string name(length, 'n');
    Files files = {{name, "1"}};
    for (std::size_t i = 60; i + 1 < length; i += 61) {
      name[i] = '/';
    }
    files.emplace_back(name, "2");
    EXPECT_EQ(Read(Write(files)), files) << length;
  }
  for (const std::size_t length : {9'980U, 65'536U}) {
    const Files files = {{std::string(length, 'n'), "1"}};
    EXPECT_EQ(Read(Write(files)), files) << length;
  }
}

// Where ustar can hold the names, each byte is that of Python's tarfile.
TEST(TarWriterTest, WritesTheBytesThatPythonWrites) {
  const std::string golden = ReadWholeFile(
      std::string(INFEED_TEST_DATA) + "/webdataset/ustar.tar", 1 << 20);
  TarWalk walk(BytesOf(AsBytes(golden)), "ustar.tar");
  int files = 0;
  while (const std::optional<TarMember> member = walk.Next()) {
    if (member->kind != TarKind::kFile) {
      continue;
    }
    ++files;
    const std::string data(
        Slice(golden, member->data, member->data + member->bytes));
    const std::string text = Write({{member->name, data}});
    EXPECT_EQ(text.substr(0, text.size() - 1024),
              Slice(golden, member->begin, member->end))
        << member->name;
  }
  EXPECT_EQ(files, 23);
}

// Long names in pax.tar have no folders that would fit a prefix.
TEST(TarWriterTest, WritesPythonsPaxHeaders) {
  const std::string golden = ReadWholeFile(
      std::string(INFEED_TEST_DATA) + "/webdataset/pax.tar", 1 << 20);
  std::string name;
  for (int i = 0; i < 70; ++i) {
    name += "name";
  }
  const std::string text = Write({{name + ".jpg", "\xFF\xD8\xFF"}});
  EXPECT_THAT(golden, HasSubstr(text.substr(0, text.size() - 1024)));
}

// Keeps the headers of what it is given, and the size of the rest.
class HeaderSink final : public ByteSink {
 public:
  void Write(std::span<const std::byte> bytes) override {
    if (bytes.size() <= kTarBlockBytes) {
      headers_ += AsText(bytes);
    }
    size_ += std::ssize(bytes);
  }
  void Commit() override {}
  [[nodiscard]] std::int64_t size() const override { return size_; }
  [[nodiscard]] const std::string& headers() const { return headers_; }

 private:
  std::string headers_;
  std::int64_t size_ = 0;
};

#if SIZE_MAX >> 33 != 0  // Elsewhere no file in memory is so long.
TEST(TarWriterTest, FilesOfEightGibibytesHaveAPaxHeader) {
  constexpr std::size_t kLarge = std::size_t{1} << 33;
  // Address space alone: the sink reads none of it.
  void* const memory =
      ::mmap(nullptr, kLarge, PROT_NONE,
             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  ASSERT_NE(memory, MAP_FAILED);
  const std::span bytes(static_cast<const std::byte*>(memory), kLarge);
  for (const std::size_t size : {kLarge - 1, kLarge}) {
    HeaderSink sink;
    TarWriter(sink).Add("large.bin", bytes.first(size));
    TarWalk walk(BytesOf(AsBytes(sink.headers())), "x.tar");
    const std::optional<TarMember> member = walk.Next();
    EXPECT_EQ(member->name, "large.bin");
    EXPECT_EQ(member->bytes, static_cast<std::int64_t>(size));
    EXPECT_EQ(member->end, sink.size());
    EXPECT_EQ(member->data, size == kLarge ? 3 * 512 : 512);
  }
  ASSERT_EQ(::munmap(memory, kLarge), 0);
}
#endif

TEST(TarWriterTest, NamesThatCannotBeReadAreBadData) {
  for (const std::string& name :
       {std::string(), std::string("/a"), std::string("a/"),
        std::string("../a"), std::string("a/../b"), std::string("a\0b", 3),
        std::string(65'537, 'n')}) {
    TarSink sink;
    EXPECT_THAT(MessageOf<DataError>([&] { TarWriter(sink).Add(name, {}); }),
                HasSubstr("cannot be the name of a file in a tar"));
    EXPECT_EQ(sink.text(), "");
  }
}

}  // namespace infeed::tar_writer_test

#include "records/archives/tar_member.h"

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

#include "base/error.h"
#include "records/bytes/plain_text.h"
#include "records/bytes/whole_number.h"
#include "records/files/open_source.h"

namespace infeed {
namespace {

constexpr auto kBlock = static_cast<std::int64_t>(kTarBlockBytes);

// As for the scan of TFRecords: small members share a read, and the data of
// large ones are not read; for objects, requests cost more than bytes.
constexpr std::size_t kFilePageBytes = 4096;
constexpr std::size_t kObjectPageBytes = std::size_t{1} << 20;

constexpr std::int64_t kMaxExtensionBytes = std::int64_t{1} << 20;
// No offset overflows if sizes and offsets are below it.
constexpr std::int64_t kMaxTarOffset =
    std::numeric_limits<std::int64_t>::max() / 2;

// GNU's magic has a blank in the NUL's place.
constexpr std::string_view kPosixMagic("ustar\0", 6);

// Old GNU sparse files: whether a block with more of the map follows, in the
// header and in these blocks.
constexpr std::size_t kHeaderHasMoreMap = 482;
constexpr std::size_t kMapHasMoreMap = 504;

// The page of a source that was read last.
class SourcePage {
 public:
  explicit SourcePage(const ByteSource& source)
      : source_(&source),
        page_bytes_(IsUrl(source.path()) ? kObjectPageBytes : kFilePageBytes) {}

  std::span<const std::byte> operator()(std::int64_t offset,
                                        std::size_t bytes) {
    if (offset < offset_ || EndOf(offset, bytes) > offset_ + size_) {
      Fill(offset, bytes);
    }
    const std::int64_t end = std::min(EndOf(offset, bytes), offset_ + size_);
    if (end <= offset) {
      return {};
    }
    return std::span<const std::byte>(page_).subspan(
        static_cast<std::size_t>(offset - offset_),
        static_cast<std::size_t>(end - offset));
  }

 private:
  static std::int64_t EndOf(std::int64_t offset, std::size_t bytes) {
    return offset + static_cast<std::int64_t>(bytes);
  }

  void Fill(std::int64_t offset, std::size_t bytes) {
    const std::int64_t left =
        std::max<std::int64_t>(source_->size() - offset, 0);
    const std::size_t wanted = BytesWithin(std::max(bytes, page_bytes_), left);
    page_.resize(std::max(page_.size(), wanted));
    offset_ = offset;
    size_ = static_cast<std::int64_t>(
        source_->ReadAt(offset, std::span(page_).first(wanted)));
  }

  const ByteSource* source_;
  std::size_t page_bytes_;
  std::vector<std::byte> page_;
  std::int64_t offset_ = 0;  // of the page in the source
  std::int64_t size_ = 0;    // bytes of the source in the page
};

std::string_view UpToNul(std::string_view text) {
  return text.substr(0, text.find('\0'));
}

std::string_view FieldText(std::span<const std::byte> header, TarField field) {
  return UpToNul(AsChars(header.subspan(field.begin, field.bytes)));
}

// GNU's form of large numbers: a byte 0x80, then the number, big-endian.
std::optional<std::int64_t> BinaryNumber(std::span<const std::byte> digits) {
  std::int64_t number = 0;
  for (const std::byte digit : digits) {
    if (number > kMaxTarOffset >> 8) {
      return std::nullopt;
    }
    number = number << 8 | std::to_integer<std::int64_t>(digit);
  }
  return number;
}

// nullopt: not a number, negative or too large.
std::optional<std::int64_t> FieldNumber(std::span<const std::byte> header,
                                        TarField field) {
  const auto bytes = header.subspan(field.begin, field.bytes);
  if (bytes[0] == std::byte{0x80}) {
    return BinaryNumber(bytes.subspan(1));
  }
  const std::string_view digits = Trimmed(UpToNul(AsChars(bytes)));
  if (digits.empty()) {
    return 0;
  }
  const auto number = ParsePlainNumber<std::int64_t>(digits, 8);
  return number && *number >= 0 ? number : std::nullopt;
}

// Some old writers summed up signed bytes.
std::int64_t SignedChecksum(std::span<const std::byte> header) {
  std::int64_t sum = TarChecksum(header);
  for (std::size_t i = 0; i < header.size(); ++i) {
    const bool is_in_sum = i - kTarChecksum.begin >= kTarChecksum.bytes;
    if (is_in_sum && std::to_integer<int>(header[i]) >= 0x80) {
      sum -= 0x100;
    }
  }
  return sum;
}

bool HasCorrectChecksum(std::span<const std::byte> header) {
  const std::optional<std::int64_t> sum = FieldNumber(header, kTarChecksum);
  return sum && (*sum == TarChecksum(header) || *sum == SignedChecksum(header));
}

bool IsZeros(std::span<const std::byte> bytes) {
  return std::ranges::all_of(
      bytes, [](std::byte byte) { return byte == std::byte{0}; });
}

std::string HeaderName(std::span<const std::byte> header) {
  std::string name(FieldText(header, kTarName));
  // GNU has other fields in the prefix's place.
  const bool is_posix =
      AsChars(header.subspan(kTarMagic.begin, kPosixMagic.size())) ==
      kPosixMagic;
  if (is_posix) {
    const std::string_view prefix = FieldText(header, kTarPrefix);
    if (!prefix.empty()) {
      name = std::string(prefix).append("/").append(name);
    }
  }
  return name;
}

void RemoveSlashes(std::string& name) {
  name.resize(name.find_last_not_of('/') + 1);
}

TarKind KindOf(char type, std::string_view name) {
  switch (type) {
    case '\0':  // v7 marks folders by a slash.
      return name.ends_with('/') ? TarKind::kFolder : TarKind::kFile;
    case '0':
    case '7':
      return TarKind::kFile;
    case '1':
    case '2':
      return TarKind::kLink;
    case '5':
      return TarKind::kFolder;
    case 'S':
      return TarKind::kSparse;
    default:  // A type may be any byte.
      return TarKind::kOther;
  }
}

// A hard link is from the archive's root, a symbolic one from its folder.
std::string LinkOf(char type, std::string_view name, const std::string& link) {
  const bool is_from_root = type == '1' || link.starts_with('/');
  name.remove_suffix(BaseName(name).size());
  return is_from_root ? link : std::string(name) + link;
}

// Links, devices, folders and pipes have none, whatever size the header has.
bool HasData(char type) { return type < '1' || type > '6'; }

bool IsExtension(char type) {
  return type == 'x' || type == 'X' || type == 'g' || type == 'L' ||
         type == 'K';
}

}  // namespace

struct TarWalk::Header {
  std::string name;
  std::string link;
  std::int64_t bytes = 0;
  char type = '0';
  bool has_more_map = false;

  static Header Parse(std::span<const std::byte> block);
};

// Values of extension headers, which replace those of the next header.
struct TarWalk::Extensions {
  std::string gnu_name;
  std::string link;
  std::string pax_name;
  std::string sparse_name;
  std::optional<std::int64_t> bytes;
  bool is_sparse = false;

  void Apply(std::string_view key, std::string_view value);
  // Applies the records of a pax header: "LENGTH KEY=VALUE\n", where the length
  // is that of the whole record.
  void ApplyPax(std::string_view records);

  [[nodiscard]] bool Replaces() const {
    return !pax_name.empty() || bytes || is_sparse;
  }
  [[nodiscard]] const std::string& NameOr(const std::string& name) const {
    for (const std::string* own : {&sparse_name, &pax_name, &gnu_name}) {
      if (!own->empty()) {
        return *own;
      }
    }
    return name;
  }
};

TarWalk::Header TarWalk::Header::Parse(std::span<const std::byte> block) {
  if (!HasCorrectChecksum(block)) {
    throw DataError("the checksum of a tar header does not match");
  }
  const std::optional<std::int64_t> bytes = FieldNumber(block, kTarSize);
  if (!bytes) {
    throw DataError(TarNameForMessages(HeaderName(block)) +
                    ": its size is not a number, negative or too large");
  }
  return {.name = HeaderName(block),
          .link = std::string(FieldText(block, kTarLink)),
          .bytes = *bytes,
          .type = std::to_integer<char>(block[kTarType.begin]),
          .has_more_map = block[kHeaderHasMoreMap] != std::byte{0}};
}

void TarWalk::Extensions::Apply(std::string_view key, std::string_view value) {
  if (key.starts_with("GNU.sparse.")) {
    is_sparse = true;
  }
  if (value.empty()) {  // Takes a value back.
    return;
  }
  if (key == "path") {
    pax_name = value;
    RemoveSlashes(pax_name);
  } else if (key == "linkpath") {
    link = value;
  } else if (key == "GNU.sparse.name") {
    sparse_name = value;
  } else if (key == "size") {
    bytes = ParsePlainNumber<std::int64_t>(value);
    if (!bytes || *bytes < 0) {
      throw DataError(
          "a pax header's size is not a number, negative or too "
          "large");
    }
  }
}

void TarWalk::Extensions::ApplyPax(std::string_view records) {
  while (!records.empty()) {
    std::string_view rest = records;
    const auto length = TakePlainNumber<std::size_t>(rest);
    const std::size_t digits = records.size() - rest.size();
    // The blank and the newline are the least that follows.
    if (!length || *length > records.size() || *length < digits + 2 ||
        records[digits] != ' ' || records[*length - 1] != '\n') {
      throw DataError("a pax header is malformed: a record's length is wrong");
    }
    const std::string_view record =
        records.substr(digits + 1, *length - digits - 2);
    const std::size_t equals = record.find('=');
    if (equals == std::string_view::npos) {
      throw DataError("a pax header is malformed: a record without a value");
    }
    Apply(record.substr(0, equals), record.substr(equals + 1));
    records.remove_prefix(*length);
  }
}

TarWalk::TarWalk(ReadTarBytes read, std::string path, std::int64_t begin)
    : read_(std::move(read)),
      path_(std::move(path)),
      begin_(begin),
      offset_(begin) {}

std::optional<TarMember> TarWalk::Next() {
  if (at_end_) {
    return std::nullopt;
  }
  try {
    const std::int64_t begin = offset_;
    Extensions extensions;
    while (const std::optional<Header> header = ReadHeader()) {
      if (!IsExtension(header->type)) {
        return ReadMember(begin, *header, extensions);
      }
      ReadExtension(*header, extensions);
    }
    if (offset_ != begin) {
      throw DataError(
          "the tar is cut short: an extension header without its member");
    }
    RefuseMore();
    at_end_ = true;
    return std::nullopt;
  } catch (const DataError& error) {
    throw error.At({path_, -1, offset_});
  }
}

// nullopt: the archive ends here.
std::optional<TarWalk::Header> TarWalk::ReadHeader() {
  // The byte before is read, too: it is missing if what ends here is cut short.
  const std::int64_t before = offset_ > begin_ ? 1 : 0;
  auto block = read_(offset_ - before,
                     kTarBlockBytes + static_cast<std::size_t>(before));
  if (std::ssize(block) < before) {
    throw DataError("the tar is cut short: " + TarNameForMessages(last_name_) +
                    " should end here");
  }
  block = block.subspan(static_cast<std::size_t>(before));
  if (block.empty()) {
    return std::nullopt;
  }
  if (block.size() < kTarBlockBytes) {
    throw DataError("the tar is cut short in a header");
  }
  if (IsZeros(block)) {
    return std::nullopt;
  }
  return Header::Parse(block);
}

// Behind the first block of zeros, or the end of the bytes, are only zeros.
void TarWalk::RefuseMore() {
  const std::int64_t second = offset_ + kBlock;
  for (std::int64_t begin = second;;) {
    const auto rest = read_(begin, kTarBlockBytes);
    const auto data = std::ranges::find_if(
        rest, [](std::byte byte) { return byte != std::byte{0}; });
    begin += data - rest.begin();
    if (data != rest.end() && begin < second + kBlock) {
      throw DataError("a block of zeros in the place of a header");
    }
    if (data != rest.end()) {
      offset_ = begin;
      throw DataError(
          "data behind the end of the tar, such as of a second one behind it: "
          "make a file of each, or join them by tar --concatenate");
    }
    if (rest.size() < kTarBlockBytes) {
      return;
    }
  }
}

std::span<const std::byte> TarWalk::ReadWhole(std::int64_t offset,
                                              std::int64_t bytes) const {
  if (bytes == 0) {  // The next header's read begins one byte before.
    return {};
  }
  const auto view = read_(offset, static_cast<std::size_t>(bytes));
  if (std::ssize(view) < bytes) {
    throw DataError("the tar is cut short in an extension header");
  }
  return view;
}

void TarWalk::ReadExtension(const Header& header, Extensions& extensions) {
  const bool is_name = header.type == 'L' || header.type == 'K';
  const std::int64_t limit =
      is_name ? static_cast<std::int64_t>(kMaxTarNameBytes) + 1  // with a NUL
              : kMaxExtensionBytes;
  if (header.bytes > limit) {
    throw DataError("an extension header has " + std::to_string(header.bytes) +
                    " bytes, more than the limit of " + std::to_string(limit));
  }
  const std::string_view text =
      AsChars(ReadWhole(offset_ + kBlock, header.bytes));
  if (header.type == 'L') {
    extensions.gnu_name = UpToNul(text);
  } else if (header.type == 'K') {
    extensions.link = UpToNul(text);
  } else if (header.type == 'g') {
    Extensions global;
    global.ApplyPax(text);
    // A sample is read without what is far before it.
    if (global.Replaces()) {
      throw DataError(
          "a global pax header gives all members one name or "
          "size: pack the archive again");
    }
  } else {
    extensions.ApplyPax(text);
  }
  offset_ += kBlock + TarPadded(header.bytes);
  last_name_ = "an extension header";
}

TarMember TarWalk::ReadMember(std::int64_t begin, const Header& header,
                              const Extensions& extensions) {
  TarMember member = {.name = extensions.NameOr(header.name), .begin = begin};
  if (member.name.size() > kMaxTarNameBytes ||
      member.name.find('\0') != std::string::npos) {
    throw DataError("a member's name is longer than 64 KiB or has a NUL");
  }
  member.kind = extensions.is_sparse ? TarKind::kSparse
                                     : KindOf(header.type, member.name);
  if (member.kind == TarKind::kLink) {
    member.link =
        LinkOf(header.type, member.name,
               extensions.link.empty() ? header.link : extensions.link);
  }
  member.data = offset_ + kBlock;
  bool has_more_map = header.type == 'S' && header.has_more_map;
  while (has_more_map) {
    has_more_map =
        ReadWhole(member.data, kBlock)[kMapHasMoreMap] != std::byte{0};
    member.data += kBlock;
  }
  if (HasData(header.type)) {
    member.bytes = extensions.bytes.value_or(header.bytes);
  }
  if (member.bytes > kMaxTarOffset - member.data - kBlock) {
    throw DataError(TarNameForMessages(member.name) + ": its size of " +
                    std::to_string(member.bytes) + " bytes is too large");
  }
  if (member.kind == TarKind::kFolder) {
    RemoveSlashes(member.name);
  }
  member.end = member.data + TarPadded(member.bytes);
  offset_ = member.end;
  last_name_ = member.name;
  return member;
}

ReadTarBytes BytesOf(const ByteSource& source) { return SourcePage(source); }

ReadTarBytes BytesOf(std::span<const std::byte> bytes) {
  return [bytes](std::int64_t offset, std::size_t count) {
    const std::size_t skipped = BytesWithin(bytes.size(), offset);
    return bytes.subspan(skipped, std::min(count, bytes.size() - skipped));
  };
}

bool IsTar(std::span<const std::byte> start) {
  return start.size() >= kTarBlockBytes &&
         HasCorrectChecksum(start.first(kTarBlockBytes));
}

std::string TarNameForMessages(std::string_view name) {
  constexpr std::size_t kMaxShown = 200;
  std::string shown(name.substr(0, kMaxShown));
  const bool is_utf8 = IsUtf8(shown);
  for (char& c : shown) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7F || (byte >= 0x80 && !is_utf8)) {
      c = '?';
    }
  }
  return name.size() > kMaxShown ? shown + "..." : shown;
}

bool TarNameLeadsOut(std::string_view name) {
  if (name.starts_with('/')) {
    return true;
  }
  while (!name.empty()) {
    const std::size_t slash = std::min(name.find('/'), name.size());
    if (name.substr(0, slash) == "..") {
      return true;
    }
    name.remove_prefix(std::min(slash + 1, name.size()));
  }
  return false;
}

std::int64_t TarChecksum(std::span<const std::byte> header) {
  std::int64_t sum = std::int64_t{' '} * kTarChecksum.bytes;
  for (std::size_t i = 0; i < header.size(); ++i) {
    if (i - kTarChecksum.begin >= kTarChecksum.bytes) {
      sum += std::to_integer<std::int64_t>(header[i]);
    }
  }
  return sum;
}

}  // namespace infeed

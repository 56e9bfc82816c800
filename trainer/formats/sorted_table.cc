#include "trainer/formats/sorted_table.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string_view>

#include <fmt/format.h>

#include "base/error.h"
#include "records/bytes/crc32c.h"

namespace infeed {
namespace {

using Bytes = std::span<const std::byte>;

constexpr std::size_t kFooterBytes = 48;
constexpr std::size_t kTrailerBytes = 5;  // type and checksum of a block
constexpr std::uint64_t kMagic = 0xdb4775248b80fb57;
constexpr std::size_t kMaxKeyBytes = 4096;
constexpr std::size_t kMaxKeysBytes = std::size_t{64} << 20;

[[noreturn]] void Fail(std::size_t place, const std::string& why) {
  throw DataError(fmt::format("table at byte {}: {}", place, why));
}

template <typename Number>
Number Load(Bytes bytes) {
  Number number = 0;
  std::memcpy(&number, bytes.data(), sizeof number);
  return number;
}

// Bytes with their offset in the file, read from the front.
class Cursor {
 public:
  Cursor(Bytes bytes, std::size_t place) : bytes_(bytes), place_(place) {}

  [[nodiscard]] bool empty() const { return bytes_.empty(); }
  [[nodiscard]] std::size_t place() const { return place_; }
  [[nodiscard]] Bytes rest() const { return bytes_; }

  std::string_view Take(std::uint64_t count) {
    if (count > bytes_.size()) {
      Fail(place_, "an entry is cut short");
    }
    const Bytes taken = bytes_.first(count);
    bytes_ = bytes_.subspan(count);
    place_ += count;
    return {reinterpret_cast<const char*>(taken.data()), taken.size()};
  }

  // Seven bits a byte, the lowest first, the last byte below 128.
  std::uint64_t TakeVarint() {
    std::uint64_t value = 0;
    for (int shift = 0; shift < 64; shift += 7) {
      const auto byte = static_cast<std::uint8_t>(Take(1)[0]);
      value |= std::uint64_t{byte & 0x7FU} << shift;
      if (byte < 0x80 && (byte > 0 || shift == 0)) {
        return value;
      }
      if (byte == 0) {  // No writer encodes a number like this.
        break;
      }
    }
    Fail(place_, "a number is longer than it may be");
  }

 private:
  Bytes bytes_;
  std::size_t place_;
};

struct Handle {
  std::uint64_t offset = 0;
  std::uint64_t size = 0;
};

Handle TakeHandle(Cursor& cursor) {
  const std::uint64_t offset = cursor.TakeVarint();
  return {.offset = offset, .size = cursor.TakeVarint()};
}

// The entries of a block, without its restart offsets. Verifies the checksum.
Cursor OpenBlock(Bytes file, const Handle& handle) {
  const std::size_t place = handle.offset;
  if (handle.offset > file.size() || handle.size > file.size() ||
      file.size() - handle.offset < handle.size + kTrailerBytes) {
    Fail(file.size(), "a block lies beyond the end");
  }
  const Bytes block = file.subspan(place, handle.size);
  const Bytes trailer = file.subspan(place + handle.size, kTrailerBytes);
  const Bytes checked = file.subspan(place, handle.size + 1);
  if (UnmaskCrc(Load<std::uint32_t>(trailer.subspan(1))) != Crc32c(checked)) {
    Fail(place, "the checksum of a block does not match");
  }
  if (trailer[0] != std::byte{0}) {
    Fail(place, "a block is compressed");
  }
  if (block.size() < sizeof(std::uint32_t)) {
    Fail(place, "a block is too short");
  }
  const std::uint64_t restarts = Load<std::uint32_t>(block.last(4));
  if (restarts > block.size() / 4 - 1) {
    Fail(place, "a block has more restarts than bytes");
  }
  return {block.first(block.size() - 4 * (restarts + 1)), place};
}

template <typename Visit>
void ForEachEntry(Cursor cursor, Visit visit) {
  std::string key;
  while (!cursor.empty()) {
    const std::size_t place = cursor.place();
    const std::uint64_t shared = cursor.TakeVarint();
    const std::uint64_t unshared = cursor.TakeVarint();
    const std::uint64_t value_bytes = cursor.TakeVarint();
    if (shared > key.size() || unshared > kMaxKeyBytes - shared) {
      Fail(place, "a key is too long");
    }
    key.resize(shared);
    key.append(cursor.Take(unshared));
    visit(key, cursor.Take(value_bytes), place);
  }
}

struct Footer {
  Handle metaindex;
  Handle index;
};

Footer ReadFooter(Bytes file) {
  if (file.size() < kFooterBytes ||
      Load<std::uint64_t>(file.last(sizeof kMagic)) != kMagic) {
    Fail(file.size(), "it does not end as the index of a checkpoint does");
  }
  const std::size_t place = file.size() - kFooterBytes;
  Cursor cursor(file.subspan(place, kFooterBytes - sizeof kMagic), place);
  const Handle metaindex = TakeHandle(cursor);
  const Footer footer{.metaindex = metaindex, .index = TakeHandle(cursor)};
  if (std::ranges::any_of(cursor.rest(),
                          [](std::byte b) { return b != std::byte{0}; })) {
    Fail(cursor.place(), "the footer's padding is not zero");
  }
  return footer;
}

}  // namespace

std::map<std::string, std::string> ParseSortedTable(Bytes file) {
  const Footer footer = ReadFooter(file);
  const Bytes blocks = file.first(file.size() - kFooterBytes);
  ForEachEntry(OpenBlock(blocks, footer.metaindex),
               [](const auto&, auto, std::size_t) {});
  std::map<std::string, std::string> entries;
  std::size_t key_bytes = 0;
  const auto add = [&](const std::string& key, std::string_view value,
                       std::size_t place) {
    if (!entries.empty() && key <= entries.rbegin()->first) {
      Fail(place, "the keys are not in order");
    }
    key_bytes += key.size();
    if (key_bytes > kMaxKeysBytes) {
      Fail(place, "the keys are too long");
    }
    entries.emplace_hint(entries.end(), key, value);
  };
  ForEachEntry(OpenBlock(blocks, footer.index),
               [&](const auto&, std::string_view value, std::size_t place) {
                 Cursor cursor(std::as_bytes(std::span(value)), place);
                 ForEachEntry(OpenBlock(blocks, TakeHandle(cursor)), add);
               });
  return entries;
}

}  // namespace infeed

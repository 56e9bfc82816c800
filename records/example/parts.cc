#include "records/example/parts.h"

#include <cstddef>
#include <cstdint>

#include "base/varint.h"

namespace infeed {
namespace {

// Tags of the wire format: field << 3 | 2, a length-delimited field.
constexpr char kField1 = 0x0a;
constexpr char kField2 = 0x12;
constexpr char kField3 = 0x1a;
constexpr char kBytesListField = kField1;
constexpr char kInt64ListField = kField3;

void AppendLength(char tag, std::size_t length, std::string& out) {
  out.push_back(tag);
  AppendVarint(length, out);
}

// Bytes of a field with a payload of `length` bytes, including its tag and
// length.
std::size_t FieldBytes(std::size_t length) {
  std::size_t bytes = length + 2;
  for (; length >= 0x80; length >>= 7) {
    ++bytes;
  }
  return bytes;
}

// The entry of the Example's map for one key, without the value itself, which
// follows directly.
std::string EntryHead(std::string_view key, char list, std::size_t value) {
  const std::size_t list_bytes = FieldBytes(value);
  const std::size_t feature_bytes = FieldBytes(list_bytes);
  std::string head;
  AppendLength(kField1, FieldBytes(key.size()) + FieldBytes(feature_bytes),
               head);
  AppendLength(kField1, key.size(), head);
  head.append(key);
  AppendLength(kField2, feature_bytes, head);
  AppendLength(list, list_bytes, head);
  AppendLength(kField1, value, head);
  return head;
}

std::string Entry(std::string_view key, std::string_view value) {
  return EntryHead(key, kBytesListField, value.size()).append(value);
}

std::string Entry(std::string_view key, std::int64_t value) {
  std::string packed;
  AppendVarint(static_cast<std::uint64_t>(value), packed);
  return EntryHead(key, kInt64ListField, packed.size()).append(packed);
}

}  // namespace

// The keys are sorted, as in all maps that this project serializes.
ExampleParts BuildExampleParts(const ImagenetExample& example) {
  const bool is_packed = !example.packed.empty();
  ExampleParts parts;
  parts.image = is_packed ? example.packed : example.encoded;
  const std::string names = Entry("image/filename", example.filename) +
                            Entry("image/format", example.format) +
                            Entry("image/height", example.height);
  const std::string entries =
      Entry("image/channels", example.channels) +
      Entry("image/class/label", example.label) +
      Entry("image/class/synset", example.synset) +
      Entry("image/class/text", example.text) +
      Entry("image/colorspace", example.colorspace) + (is_packed ? names : "") +
      EntryHead(is_packed ? "image/packed" : "image/encoded", kBytesListField,
                parts.image.size());
  if (!is_packed) {
    parts.after = names;
    if (!example.seek_index.empty()) {
      parts.after += Entry("image/seek_index", example.seek_index);
    }
  }
  parts.after += Entry("image/width", example.width);
  AppendLength(kField1,
               entries.size() + parts.image.size() + parts.after.size(),
               parts.before);
  parts.before.append(entries);
  return parts;
}

}  // namespace infeed

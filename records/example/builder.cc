#include "records/example/builder.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <variant>
#include <vector>

#include "base/number_bytes.h"

namespace infeed {
namespace {

// Tags of the wire format: field << 3 | 2, a length-delimited field.
constexpr char kField1 = 0x0a;
constexpr char kField2 = 0x12;
constexpr char kField3 = 0x1a;
constexpr char kBytesListField = kField1;
constexpr char kFloatListField = kField2;
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

// The entry of the Example's map for one key, without the list's content, which
// follows directly.
std::string ListHead(std::string_view key, char list, std::size_t content) {
  const std::size_t feature_bytes = FieldBytes(content);
  std::string head;
  AppendLength(kField1, FieldBytes(key.size()) + FieldBytes(feature_bytes),
               head);
  AppendLength(kField1, key.size(), head);
  head.append(key);
  AppendLength(kField2, feature_bytes, head);
  AppendLength(list, content, head);
  return head;
}

// The head of an entry whose list has one value, which follows directly.
std::string EntryHead(std::string_view key, char list, std::size_t value) {
  std::string head = ListHead(key, list, FieldBytes(value));
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

// The entry of a feature's values.
struct BuildEntry {
  std::string_view key;

  std::string operator()(std::monostate /*none*/) const {
    std::string entry;
    AppendLength(kField1, FieldBytes(key.size()) + FieldBytes(0), entry);
    AppendLength(kField1, key.size(), entry);
    entry.append(key);
    AppendLength(kField2, 0, entry);
    return entry;
  }
  std::string operator()(const std::vector<std::string_view>& values) const {
    std::string list;
    for (const std::string_view value : values) {
      AppendLength(kField1, value.size(), list);
      list.append(value);
    }
    return ListHead(key, kBytesListField, list.size()).append(list);
  }
  std::string operator()(const std::vector<float>& values) const {
    std::string packed;
    for (const float value : values) {
      const auto bits = std::bit_cast<std::uint32_t>(value);
      for (int shift = 0; shift < 32; shift += 8) {  // Little-endian.
        packed.push_back(static_cast<char>(bits >> shift));
      }
    }
    return EntryHead(key, kFloatListField, packed.size()).append(packed);
  }
  std::string operator()(const std::vector<std::int64_t>& values) const {
    std::string packed;
    for (const std::int64_t value : values) {
      AppendVarint(static_cast<std::uint64_t>(value), packed);
    }
    return EntryHead(key, kInt64ListField, packed.size()).append(packed);
  }
};

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

ExampleParts BuildExampleParts(std::span<const ExampleFeature> features,
                               std::string_view image_key,
                               std::string_view image) {
  std::string entries;
  for (const ExampleFeature& feature : features) {
    entries += std::visit(BuildEntry{feature.key}, feature.values);
  }
  entries += EntryHead(image_key, kBytesListField, image.size());
  ExampleParts parts = {.before = {}, .image = image, .after = {}};
  AppendLength(kField1, entries.size() + image.size(), parts.before);
  parts.before.append(entries);
  return parts;
}

std::span<const std::byte> WriteExample(const ExampleParts& parts,
                                        std::vector<std::byte>& buffer) {
  const std::array<std::string_view, 3> views = {parts.before, parts.image,
                                                 parts.after};
  std::size_t bytes = 0;
  for (const std::string_view view : views) {
    bytes += view.size();
  }
  buffer.resize(std::max(buffer.size(), bytes));
  auto end = buffer.begin();
  for (const std::string_view view : views) {
    end = std::ranges::copy(std::as_bytes(std::span(view)), end).out;
  }
  return std::span(buffer).first(bytes);
}

std::string BuildExample(std::span<const ExampleFeature> features) {
  std::vector<const ExampleFeature*> sorted;
  for (const ExampleFeature& feature : features) {
    sorted.push_back(&feature);
  }
  std::ranges::sort(sorted, {}, &ExampleFeature::key);
  std::string entries;
  for (const ExampleFeature* feature : sorted) {
    entries += std::visit(BuildEntry{feature->key}, feature->values);
  }
  std::string example;
  AppendLength(kField1, entries.size(), example);
  return example.append(entries);
}

}  // namespace infeed

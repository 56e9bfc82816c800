#include "trainer/formats/safetensors.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/atomic_file.h"
#include "base/choices.h"
#include "base/error.h"
#include "records/bytes/crc32c.h"

namespace infeed {
namespace {

using Json = nlohmann::json;

static_assert(std::endian::native == std::endian::little,
              "tensors are stored as they lie in memory");

constexpr std::size_t kLengthBytes = 8;
constexpr std::uint64_t kMaxHeaderBytes = 100'000'000;
constexpr std::string_view kMetadata = "__metadata__";
// {name: {"shape": [n, ...]}}
constexpr int kMaxDepth = 3;

// One tensor of a header: bytes [begin, end) of the data.
struct TensorEntry {
  std::string name;
  StoredType type = StoredType::kFloat32;
  std::vector<std::int64_t> shape;
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
};

constexpr Choices<StoredType, 5> kTypes = {{{"F16", StoredType::kFloat16},
                                            {"BF16", StoredType::kBfloat16},
                                            {"F32", StoredType::kFloat32},
                                            {"F64", StoredType::kFloat64},
                                            {"I64", StoredType::kInt64}}};

// Parses JSON no deeper than a header is, and without duplicate names.
Json ParseText(std::string_view text) {
  std::set<std::string> names;
  const auto check = [&](int depth, Json::parse_event_t event, Json& value) {
    const bool opens = event == Json::parse_event_t::object_start ||
                       event == Json::parse_event_t::array_start;
    if (opens && depth >= kMaxDepth) {
      throw DataError("the header is nested too deep");
    }
    if (event == Json::parse_event_t::key && depth == 1 &&
        !names.insert(value.get<std::string>()).second) {
      throw DataError(fmt::format("the header has '{}' twice",
                                  value.get_ref<const std::string&>()));
    }
    return true;
  };
  Json header = Json::parse(text.begin(), text.end(), check, false);
  if (!text.starts_with('{') || !header.is_object()) {
    throw DataError("the header is not a JSON object");
  }
  return header;
}

std::vector<std::uint64_t> ParseNumbers(const Json& entry, const char* key,
                                        const std::string& name) {
  const auto found = entry.find(key);
  if (found == entry.end() || !found->is_array()) {
    throw DataError(fmt::format("tensor '{}' has no {}", name, key));
  }
  std::vector<std::uint64_t> numbers;
  for (const Json& number : *found) {
    if (!number.is_number_unsigned()) {
      throw DataError(fmt::format(
          "tensor '{}': {} holds something else than numbers", name, key));
    }
    numbers.push_back(number.get<std::uint64_t>());
  }
  return numbers;
}

StoredType ParseType(const Json& entry, const std::string& name) {
  const auto found = entry.find("dtype");
  if (found == entry.end() || !found->is_string()) {
    throw DataError(fmt::format("tensor '{}' has no dtype", name));
  }
  const std::string& type = found->get_ref<const std::string&>();
  if (const StoredType* const stored = FindChoice(type, kTypes)) {
    return *stored;
  }
  throw DataError(
      fmt::format("tensor '{}' has type {}: only F16, BF16, F32, F64 and I64 "
                  "are read",
                  name, type));
}

std::vector<std::int64_t> ParseShape(const Json& json,
                                     const std::string& name) {
  const std::vector<std::uint64_t> numbers = ParseNumbers(json, "shape", name);
  if (numbers.size() > kMaxRank) {
    throw DataError(fmt::format("tensor '{}' has {} dimensions, more than {}",
                                name, numbers.size(), kMaxRank));
  }
  std::vector<std::int64_t> shape;
  for (const std::uint64_t number : numbers) {
    if (!std::in_range<std::int64_t>(number)) {
      throw DataError("a shape is too large");
    }
    shape.push_back(static_cast<std::int64_t>(number));
  }
  return shape;
}

TensorEntry ParseEntry(const std::string& name, const Json& json) {
  if (!json.is_object() || json.size() != 3) {
    throw DataError(fmt::format(
        "tensor '{}' is not described by dtype, shape and data_offsets", name));
  }
  TensorEntry entry{.name = name,
                    .type = ParseType(json, name),
                    .shape = ParseShape(json, name)};
  const std::vector<std::uint64_t> offsets =
      ParseNumbers(json, "data_offsets", name);
  if (offsets.size() != 2 || offsets[0] > offsets[1]) {
    throw DataError(
        fmt::format("tensor '{}': data_offsets are not begin, end", name));
  }
  entry.begin = offsets[0];
  entry.end = offsets[1];
  const std::int64_t bytes = TensorBytes(entry.type, entry.shape);
  if (entry.end - entry.begin != static_cast<std::uint64_t>(bytes)) {
    throw DataError(fmt::format("tensor '{}' has {} bytes, its shape says {}",
                                name, entry.end - entry.begin, bytes));
  }
  return entry;
}

// Metadata is not used, but it must be valid.
void CheckMetadata(const Json& metadata) {
  const bool strings =
      metadata.is_object() && std::ranges::all_of(metadata, [](const Json& v) {
        return v.is_string();
      });
  if (!strings) {
    throw DataError("__metadata__ is not a map of strings");
  }
}

// The header's text, padded with spaces so that the data begins at a multiple
// of eight bytes. Requires: names are UTF-8.
std::string BuildHeader(const std::vector<TensorEntry>& entries) {
  nlohmann::ordered_json header = nlohmann::ordered_json::object();
  // Loaders of PyTorch models require it.
  header[std::string(kMetadata)] = {{"format", "pt"}};
  for (const TensorEntry& entry : entries) {
    Check(entry.name != kMetadata, "no tensor has the metadata's name");
    header[entry.name] = {{"dtype", ChoiceName(entry.type, kTypes)},
                          {"shape", entry.shape},
                          {"data_offsets", {entry.begin, entry.end}}};
  }
  std::string text = header.dump();
  text.resize((text.size() + 7) / 8 * 8, ' ');
  return text;
}

// Parses a header; the entries come sorted by place. Throws DataError unless
// it is valid, every shape fits its bytes, and the tensors cover data_bytes
// exactly.
std::vector<TensorEntry> ParseHeader(std::string_view text,
                                     std::uint64_t data_bytes) {
  const Json header = ParseText(text);
  std::vector<TensorEntry> entries;
  for (const auto& [name, json] : header.items()) {
    if (name == kMetadata) {
      CheckMetadata(json);
    } else {
      entries.push_back(ParseEntry(name, json));
    }
  }
  std::ranges::sort(entries, {}, [](const TensorEntry& entry) {
    return std::pair(entry.begin, entry.end);
  });
  std::uint64_t covered = 0;
  for (const TensorEntry& entry : entries) {
    if (entry.begin != covered) {
      throw DataError(fmt::format("tensor '{}' begins at byte {}, not at {}",
                                  entry.name, entry.begin, covered));
    }
    covered = entry.end;
  }
  if (covered != data_bytes) {
    throw DataError(fmt::format("the tensors have {} bytes, the file has {}",
                                covered, data_bytes));
  }
  return entries;
}

// Tensors of larger elements first; the map's order, by name, within a type.
std::vector<const TensorMap::value_type*> FileOrder(const TensorMap& tensors) {
  std::vector<const TensorMap::value_type*> order;
  order.reserve(tensors.size());
  for (const TensorMap::value_type& entry : tensors) {
    order.push_back(&entry);
  }
  std::ranges::stable_sort(order, std::ranges::greater(), [](const auto* e) {
    return ElementBytes(ToStoredType(e->second.type));
  });
  return order;
}

std::vector<TensorEntry> Layout(
    const std::vector<const TensorMap::value_type*>& order) {
  std::vector<TensorEntry> entries;
  std::uint64_t offset = 0;
  for (const auto* named : order) {
    const auto& [name, tensor] = *named;
    const StoredType type = ToStoredType(tensor.type);
    Check(TensorBytes(type, tensor.shape) ==
              static_cast<std::int64_t>(tensor.bytes.size()),
          "a tensor has the bytes its shape says");
    entries.push_back({.name = name,
                       .type = type,
                       .shape = tensor.shape,
                       .begin = offset,
                       .end = offset + tensor.bytes.size()});
    offset += tensor.bytes.size();
  }
  return entries;
}

}  // namespace

FileSum WriteSafetensors(const std::string& path, const TensorMap& tensors) {
  const std::vector<const TensorMap::value_type*> order = FileOrder(tensors);
  const std::string header = BuildHeader(Layout(order));
  AtomicFile file(path);
  FileSum sum;
  const auto write = [&](std::span<const std::byte> bytes) {
    file.Write(bytes);
    sum.crc32c = ExtendCrc32c(sum.crc32c, bytes);
  };
  const std::uint64_t length = header.size();
  write(std::as_bytes(std::span(&length, 1)));
  write(std::as_bytes(std::span(header)));
  for (const auto* entry : order) {
    write(entry->second.bytes);
  }
  file.Commit();
  sum.size = file.size();
  return sum;
}

TensorMap ParseSafetensors(std::span<const std::byte> file) {
  std::uint64_t length = 0;
  if (file.size() < kLengthBytes) {
    throw DataError("too short for a safetensors file");
  }
  std::memcpy(&length, file.data(), kLengthBytes);
  const std::span<const std::byte> rest = file.subspan(kLengthBytes);
  if (length > kMaxHeaderBytes || length > rest.size()) {
    throw DataError(fmt::format(
        "the header claims {} bytes; the file has {}, the limit is {}", length,
        rest.size(), kMaxHeaderBytes));
  }
  const std::string_view text(reinterpret_cast<const char*>(rest.data()),
                              length);
  const std::span<const std::byte> data = rest.subspan(length);
  TensorMap tensors;
  for (TensorEntry& entry : ParseHeader(text, data.size())) {
    const auto bytes = data.subspan(entry.begin, entry.end - entry.begin);
    tensors.emplace(std::move(entry.name),
                    ToHostTensor(entry.type, std::move(entry.shape), bytes));
  }
  return tensors;
}

TensorMap ReadSafetensors(const std::string& path, std::int64_t max_bytes) {
  const std::string file = ReadWholeFile(path, max_bytes);
  return InFile(
      path, [&] { return ParseSafetensors(std::as_bytes(std::span(file))); });
}

}  // namespace infeed

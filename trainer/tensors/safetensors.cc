#include "trainer/tensors/safetensors.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/atomic_file.h"
#include "base/error.h"
#include "records/bytes/crc32c.h"
#include "trainer/tensors/safetensors_header.h"

namespace infeed {
namespace {

static_assert(std::endian::native == std::endian::little,
              "tensors are stored as they lie in memory");

constexpr std::size_t kLengthBytes = 8;
constexpr std::uint64_t kMaxHeaderBytes = 100'000'000;

// Tensors of larger elements first; the map's order, by name, within a type.
std::vector<const TensorMap::value_type*> FileOrder(const TensorMap& tensors) {
  std::vector<const TensorMap::value_type*> order;
  order.reserve(tensors.size());
  for (const TensorMap::value_type& entry : tensors) {
    order.push_back(&entry);
  }
  std::ranges::stable_sort(order, std::ranges::greater(), [](const auto* e) {
    return ElementBytes(StoredTypeOf(e->second.type));
  });
  return order;
}

// Where each tensor will lie.
std::vector<TensorEntry> Layout(
    const std::vector<const TensorMap::value_type*>& order) {
  std::vector<TensorEntry> entries;
  std::uint64_t offset = 0;
  for (const auto* named : order) {
    const auto& [name, tensor] = *named;
    const StoredType type = StoredTypeOf(tensor.type);
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
  const std::string header = BuildSafetensorsHeader(Layout(order));
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
  for (TensorEntry& entry : ParseSafetensorsHeader(text, data.size())) {
    const auto bytes = data.subspan(entry.begin, entry.end - entry.begin);
    tensors.emplace(std::move(entry.name),
                    ToHostTensor(entry.type, std::move(entry.shape), bytes));
  }
  return tensors;
}

TensorMap ReadSafetensors(const std::string& path, std::int64_t max_bytes) {
  const std::string file = ReadWholeFile(path, max_bytes);
  try {
    return ParseSafetensors(std::as_bytes(std::span(file)));
  } catch (const DataError& error) {
    throw error.At({.path = path});
  }
}

}  // namespace infeed

#include "trainer/formats/tensor_bundle.h"

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <span>
#include <string_view>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "base/atomic_file.h"
#include "base/error.h"
#include "records/bytes/crc32c.h"
#include "trainer/formats/host_tensor.h"
#include "trainer/formats/sorted_table.h"
#include "trainer/formats/stored_type.h"
#include "trainer/formats/tensor_bundle.pb.h"
#include "trainer/results/model_dir.h"

namespace infeed {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kMaxIndexBytes = std::int64_t{16} << 20;
constexpr std::int64_t kMaxCheckpointFileBytes = std::int64_t{1} << 20;
constexpr int kMaxShards = 100'000;
constexpr std::string_view kIndexEnd = ".index";
constexpr std::string_view kDataMark = ".data-";
constexpr std::string_view kNewestKey = "model_checkpoint_path:";

// The values of tensorflow.DataType.
constexpr std::pair<int, StoredType> kBundleTypes[] = {
    {1, StoredType::kFloat32},  {2, StoredType::kFloat64},
    {9, StoredType::kInt64},    {14, StoredType::kBfloat16},
    {19, StoredType::kFloat16},
};

template <typename Message>
Message ParseMessage(const std::string& bytes, const std::string& name) {
  Message message;
  if (!message.ParseFromString(bytes)) {
    throw DataError(
        fmt::format("the entry '{}' is not a protobuf message", name));
  }
  return message;
}

int ParseShards(const std::map<std::string, std::string>& table) {
  const auto found = table.find("");
  if (found == table.end()) {
    throw DataError("has no header");
  }
  const auto header = ParseMessage<BundleHeader>(found->second, "");
  if (header.endianness() != 0) {
    throw DataError("was written on a big-endian machine");
  }
  if (header.num_shards() < 1 || header.num_shards() > kMaxShards) {
    throw DataError(
        fmt::format("claims to have {} data files", header.num_shards()));
  }
  return header.num_shards();
}

std::vector<std::int64_t> ShapeOf(const BundleEntry& entry,
                                  const std::string& name) {
  if (entry.shape().unknown_rank() || entry.shape().dim_size() > kMaxRank) {
    throw DataError(fmt::format("tensor '{}' has no usable shape", name));
  }
  std::vector<std::int64_t> shape;
  for (const BundleEntry::Shape::Dimension& dimension : entry.shape().dim()) {
    shape.push_back(dimension.size());
  }
  return shape;
}

// The bytes [offset, offset + size) of a file.
std::string ReadRange(const std::string& path, std::int64_t offset,
                      std::int64_t size) {
  std::error_code error;
  const std::uintmax_t file_size = fs::file_size(path, error);
  if (error) {
    throw IoError(path, "read", error.value());
  }
  std::int64_t end = 0;
  if (offset < 0 || size < 0 || __builtin_add_overflow(offset, size, &end) ||
      static_cast<std::uintmax_t>(end) > file_size) {
    throw DataError({.path = path, .offset = offset},
                    fmt::format("a tensor of {} bytes goes beyond the end, "
                                "the file has {}",
                                size, file_size));
  }
  std::string bytes(static_cast<std::size_t>(size), '\0');
  std::ifstream file(path, std::ios::binary);
  file.seekg(offset);
  if (!file.read(bytes.data(), size)) {
    throw IoError(path, "read", errno);
  }
  return bytes;
}

// The path in a line `model_checkpoint_path: "PATH"`.
std::string NewestIn(const std::string& text, const std::string& path) {
  const std::size_t key = text.find(kNewestKey);
  const std::size_t begin = text.find('"', key);
  const std::size_t end = begin == std::string::npos
                              ? std::string::npos
                              : text.find('"', begin + 1);
  if (key == std::string::npos || end == std::string::npos) {
    throw DataError({.path = path}, "names no checkpoint");
  }
  return text.substr(begin + 1, end - begin - 1);
}

bool HasIndex(const std::string& prefix) {
  std::error_code ignored;
  return fs::is_regular_file(prefix + std::string(kIndexEnd), ignored);
}

}  // namespace

TensorBundle::TensorBundle(std::string prefix) : prefix_(std::move(prefix)) {
  const std::string path = prefix_ + std::string(kIndexEnd);
  const std::string file = ReadWholeFile(path, kMaxIndexBytes);
  try {
    auto table = ParseSortedTable(std::as_bytes(std::span(file)));
    shards_ = ParseShards(table);
    table.erase("");
    for (const auto& [name, value] : table) {
      const auto entry = ParseMessage<BundleEntry>(value, name);
      entries_[name] = {.type = entry.dtype(),
                        .shape = ShapeOf(entry, name),
                        .shard = entry.shard_id(),
                        .offset = entry.offset(),
                        .size = entry.size(),
                        .masked_crc = entry.crc32c(),
                        .whole = entry.slices().empty()};
    }
  } catch (const DataError& error) {
    throw error.At({.path = path});
  }
}

std::vector<std::string> TensorBundle::names() const {
  std::vector<std::string> names;
  names.reserve(entries_.size());
  for (const auto& entry : entries_) {
    names.push_back(entry.first);
  }
  return names;
}

std::string TensorBundle::DataPath(int shard) const {
  return fmt::format("{}{}{:05}-of-{:05}", prefix_, kDataMark, shard, shards_);
}

HostTensor TensorBundle::Read(const std::string& name) const {
  const auto found = entries_.find(name);
  const auto fail = [&](const std::string& why) {
    throw DataError({.path = prefix_ + std::string(kIndexEnd)},
                    fmt::format("tensor '{}' {}", name, why));
  };
  if (found == entries_.end()) {
    fail("is not in the checkpoint");
  }
  const Entry& entry = found->second;
  const auto* const type = std::ranges::find(
      kBundleTypes, entry.type, &std::pair<int, StoredType>::first);
  if (type == std::end(kBundleTypes) || !entry.whole) {
    fail(entry.whole ? fmt::format("has type {}, which is not read", entry.type)
                     : "is cut into slices, which are not read");
  }
  if (entry.shard < 0 || entry.shard >= shards_ ||
      TensorBytes(type->second, entry.shape) != entry.size) {
    fail(fmt::format("has {} bytes in file {}, which do not match its shape",
                     entry.size, entry.shard));
  }
  const std::string path = DataPath(entry.shard);
  const std::string text = ReadRange(path, entry.offset, entry.size);
  const auto bytes = std::as_bytes(std::span(text));
  if (MaskCrc(Crc32c(bytes)) != entry.masked_crc) {
    throw DataError(
        {.path = path, .offset = entry.offset},
        fmt::format("the checksum of tensor '{}' does not match", name));
  }
  return ToHostTensor(type->second, entry.shape, bytes);
}

std::optional<std::string> FindTensorBundle(const std::string& path) {
  if (HasIndex(path)) {
    return path;
  }
  for (const std::string_view mark : {kIndexEnd, kDataMark}) {
    const std::string prefix = path.substr(0, path.rfind(mark));
    if (prefix != path && HasIndex(prefix)) {
      return prefix;
    }
  }
  const std::string list = PathIn(path, "checkpoint");
  std::error_code ignored;
  if (!fs::is_regular_file(list, ignored)) {
    return std::nullopt;
  }
  // PathIn() leaves an absolute path as it is.
  return PathIn(path,
                NewestIn(ReadWholeFile(list, kMaxCheckpointFileBytes), list));
}

}  // namespace infeed

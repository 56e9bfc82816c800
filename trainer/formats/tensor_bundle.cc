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
#include "trainer/formats/sorted_table.h"
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

constexpr std::int64_t kClasses = 1000;  // of ImageNet, without background

// The end of a tensor's name in this program and in TensorFlow.
using Part = std::pair<std::string_view, std::string_view>;
constexpr Part kWeights[] = {{".weight", "/kernel"}, {".bias", "/bias"}};
constexpr Part kNorms[] = {{".weight", "/gamma"},
                           {".bias", "/beta"},
                           {".running_mean", "/moving_mean"},
                           {".running_var", "/moving_variance"}};

HostTensor Copy(const HostTensor& tensor, StridedView view) {
  constexpr std::int64_t kFloatBytes = 4;
  HostTensor copy{.type = tensor.type,
                  .shape = view.shape,
                  .bytes = CopyStrided(view, kFloatBytes, tensor.bytes)};
  return copy;
}

// Permutes TensorFlow's order of dimensions into PyTorch's.
HostTensor Transposed(HostTensor tensor) {
  const std::vector<std::int64_t>& s = tensor.shape;
  if (tensor.type != DataType::kFloat32 || (s.size() != 4 && s.size() != 2)) {
    return tensor;  // The caller checks the shape.
  }
  if (s.size() == 2) {
    return Copy(tensor, {.shape = {s[1], s[0]}, .strides = {1, s[1]}});
  }
  return Copy(tensor, {.shape = {s[3], s[2], s[0], s[1]},
                       .strides = {1, s[3], s[1] * s[2] * s[3], s[2] * s[3]}});
}

// Removes the first row of a classifier's weight or bias that has one row more
// than ImageNet has classes.
HostTensor WithoutBackground(HostTensor tensor) {
  std::vector<std::int64_t> shape = tensor.shape;
  if (tensor.type != DataType::kFloat32 || shape.empty() ||
      shape[0] != kClasses + 1) {
    return tensor;
  }
  shape[0] = kClasses;
  const std::int64_t row = shape.size() > 1 ? shape[1] : 1;
  return Copy(
      tensor,
      shape.size() > 1
          ? StridedView{.offset = row, .shape = shape, .strides = {row, 1}}
          : StridedView{.offset = 1, .shape = shape, .strides = {1}});
}

// Numbers the layers of each kind, in order.
class Counter {
 public:
  explicit Counter(std::string base) : base_(std::move(base)) {}
  std::string Next() {
    const int number = count_++;
    return number == 0 ? base_ : base_ + "_" + std::to_string(number);
  }

 private:
  std::string base_;
  int count_ = 0;
};

}  // namespace

TensorBundle::TensorBundle(std::string prefix) : prefix_(std::move(prefix)) {
  const std::string path = prefix_ + std::string(kIndexEnd);
  const std::string file = ReadWholeFile(path, kMaxIndexBytes);
  InFile(path, [&] {
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
  });
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

TensorMap ReadTensorflowWeights(const TensorBundle& bundle,
                                const std::vector<LayerPlan>& layers) {
  TensorMap tensors;
  Counter convolutions("conv2d");
  Counter norms("batch_normalization");
  Counter linears("dense");
  const auto read = [&](const LayerPlan& layer, const std::string& theirs,
                        std::span<const Part> parts) {
    for (const auto& [our_end, their_end] : parts) {
      const std::string name = theirs + std::string(their_end);
      if (!bundle.Has(name)) {
        continue;
      }
      HostTensor tensor = bundle.Read(name);
      if (their_end == "/kernel") {
        tensor = Transposed(std::move(tensor));
      }
      if (layer.kind == LayerKind::kLinear && layer.out == kClasses) {
        tensor = WithoutBackground(std::move(tensor));
      }
      tensors[layer.name + std::string(our_end)] = std::move(tensor);
    }
  };
  for (const LayerPlan& layer : layers) {
    switch (layer.kind) {
      case LayerKind::kConvolution:
        read(layer, convolutions.Next(), kWeights);
        break;
      case LayerKind::kChannelConvolution:
        break;  // The reference has no such tensor.
      case LayerKind::kNorm:
        read(layer, norms.Next(), kNorms);
        break;
      case LayerKind::kLinear:
        read(layer, linears.Next(), kWeights);
        break;
    }
  }
  return tensors;
}

}  // namespace infeed

#include "trainer/checkpoint/warm_start.h"

#include <array>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <optional>
#include <span>
#include <string_view>
#include <system_error>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/count_text.h"
#include "base/error.h"
#include "records/bytes/byte_source.h"
#include "trainer/checkpoint/checkpoint.h"
#include "trainer/formats/pth_file.h"
#include "trainer/formats/safetensors.h"
#include "trainer/formats/tensor_bundle.h"
#include "trainer/formats/wrapper_names.h"
#include "trainer/model/layers.h"
#include "trainer/results/model_labels.h"

namespace infeed {
namespace {

namespace fs = std::filesystem;
using Names = std::vector<std::string>;

constexpr std::string_view kCounter = ".num_batches_tracked";

std::string ShapeText(const HostTensor& tensor) {
  return fmt::format("[{}]", fmt::join(tensor.shape, ", "));
}

std::string List(const Names& names) { return CountedList(names, 6); }

// How the weights found fit a model.
struct Fit {
  Names taken;
  Names head;     // of the model, not taken
  Names missing;  // needed, but not in the file
  Names other;    // of another shape
  Names unused;   // of the file
};

bool FitsInto(const HostTensor& tensor, const HostTensor& found) {
  return tensor.type == found.type && tensor.shape == found.shape;
}

Fit Compare(const TensorMap& weights, const TensorMap& found,
            const std::string& head) {
  Fit fit;
  for (const auto& [name, tensor] : weights) {
    const auto other = found.find(name);
    const bool fits = other != found.end() && FitsInto(tensor, other->second);
    if (fits) {
      fit.taken.push_back(name);
    } else if (name.starts_with(head)) {
      fit.head.push_back(name);
    } else if (other != found.end()) {
      fit.other.push_back(fmt::format("{} {} instead of {}", name,
                                      ShapeText(other->second),
                                      ShapeText(tensor)));
    } else if (!name.ends_with(kCounter)) {
      fit.missing.push_back(name);
    }
  }
  if (!fit.head.empty()) {  // All tensors of the head are taken, or none.
    std::erase_if(fit.taken, [&](const std::string& name) {
      return name.starts_with(head);
    });
  }
  for (const auto& entry : found) {
    if (!weights.contains(entry.first)) {
      fit.unused.push_back(entry.first);
    }
  }
  return fit;
}

void RequireAll(const Fit& fit, const std::string& path) {
  if (fit.missing.empty() && fit.other.empty()) {
    return;
  }
  std::string why = "does not fit the model";
  if (!fit.missing.empty()) {
    why += "; missing tensors: " + List(fit.missing);
    if (!fit.unused.empty()) {  // Perhaps a prefix differs.
      why += "; unused tensors: " + List(fit.unused);
    }
  }
  if (!fit.other.empty()) {
    why += "; tensors of another shape: " + List(fit.other);
  }
  throw DataError({.path = path}, why);
}

// The first bytes of a file, by which its type is known.
using FileHead = std::array<char, 9>;

FileHead ReadHead(const std::string& path) {
  FileHead head{};
  (void)FileSource(path).ReadAt(0, std::as_writable_bytes(std::span(head)));
  return head;
}

// Looks behind the header's length, since its first bytes may have any value.
bool IsOfSafetensors(const FileHead& head) { return head.back() == '{'; }

bool IsOfTorch(const FileHead& head) {
  constexpr char kPickleMagic = '\x80';  // of torch's older files
  constexpr std::string_view kZipMagic = "PK";
  return !IsOfSafetensors(head) &&
         (std::string_view(head.data(), 2) == kZipMagic ||
          head[0] == kPickleMagic);
}

// Whether the path is a folder; throws when it does not exist.
bool IsFolder(const std::string& path) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (!fs::exists(status)) {
    throw IoError(path, "read the weights", ENOENT);
  }
  return fs::is_directory(status);
}

// Weights found at a path, by our names.
struct FoundWeights {
  std::string what;  // "torch.save() file PATH", for people
  TensorMap tensors;
};

std::optional<FoundWeights> ReadOurs(const std::string& folder) {
  std::vector<std::string> damaged;
  std::optional<Checkpoint> checkpoint = FindCheckpoint(folder, damaged);
  if (!checkpoint) {
    if (!damaged.empty()) {
      throw DataError({.path = folder},
                      "all checkpoints in it are damaged; " + damaged.front());
    }
    return std::nullopt;
  }
  return FoundWeights{.what = "the checkpoint of step " +
                              std::to_string(checkpoint->step) + " in " +
                              folder,
                      .tensors = std::move(checkpoint->state.model)};
}

// Reads a file, whose type follows from its first bytes.
FoundWeights ReadFile(const std::string& path) {
  const FileHead head = ReadHead(path);
  if (IsOfSafetensors(head)) {
    return {.what = "the safetensors file " + path,
            .tensors = WithoutWrappers(ReadSafetensors(path))};
  }
  if (IsOfTorch(head)) {
    return {.what = "the torch.save() file " + path, .tensors = ReadPth(path)};
  }
  throw DataError({.path = path},
                  "neither a safetensors file, nor a torch.save() file, nor a "
                  "TensorFlow checkpoint");
}

// The numbering of a TensorFlow checkpoint's variables follows from the layers.
FoundWeights ReadWeights(const std::string& path,
                         const std::vector<LayerPlan>& layers) {
  if (const std::optional<std::string> prefix = FindTensorBundle(path)) {
    return {.what = "the TensorFlow checkpoint " + *prefix,
            .tensors = ReadTensorflowWeights(TensorBundle(*prefix), layers)};
  }
  if (!IsFolder(path)) {
    return ReadFile(path);
  }
  if (std::optional<FoundWeights> ours = ReadOurs(path)) {
    return std::move(*ours);
  }
  throw UsageError(path +
                   ": no checkpoint in this folder; give a model_dir, a "
                   "checkpoint, or a file of weights");
}

// A weight for another number of input channels, as timm adapts it: the
// channels' sum, or the channels repeated and scaled so that gray images give
// the same output.
HostTensor WithInputChannels(const HostTensor& from, std::int64_t channels) {
  const std::int64_t before = from.shape[1];
  const std::int64_t pixels = from.shape[2] * from.shape[3];
  HostTensor to{.type = from.type, .shape = from.shape, .bytes = {}};
  to.shape[1] = channels;
  std::vector<float> source(from.bytes.size() / sizeof(float));
  std::memcpy(source.data(), from.bytes.data(), from.bytes.size());
  std::vector<float> values(
      static_cast<std::size_t>(from.shape[0] * channels * pixels));
  const float scale =
      channels == 1 ? 1
                    : static_cast<float>(before) / static_cast<float>(channels);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const auto place = static_cast<std::int64_t>(i);
    const std::int64_t out = place / pixels / channels;
    const std::int64_t channel = place / pixels % channels;
    for (std::int64_t c = 0; c < before; ++c) {
      if (channels == 1 || c == channel % before) {
        values[i] += scale * source[static_cast<std::size_t>(
                                 (out * before + c) * pixels + place % pixels)];
      }
    }
  }
  const auto bytes = std::as_bytes(std::span(values));
  to.bytes.assign(bytes.begin(), bytes.end());
  return to;
}

// Adapts the found weight of the first convolution to the model's number of
// input channels. Returns a line about it, or "".
std::string AdaptInputChannels(const HostTensor& wanted,
                               const std::string& name, TensorMap& found) {
  const auto weight = found.find(name);
  if (weight == found.end() || weight->second.type != DataType::kFloat32 ||
      weight->second.shape.size() != 4 || weight->second.shape[1] < 1) {
    return "";
  }
  std::vector<std::int64_t> shape = weight->second.shape;
  const std::int64_t before = std::exchange(shape[1], wanted.shape[1]);
  if (shape != wanted.shape || before == shape[1]) {
    return "";
  }
  weight->second = WithInputChannels(weight->second, shape[1]);
  return fmt::format("; {}: {} input channels {} {}", name, before,
                     shape[1] == 1 ? "summed to" : "repeated for", shape[1]);
}

// Rows of a tensor, whose first dimension is the classes.
void TakeRows(const std::vector<std::int32_t>& rows, HostTensor& tensor) {
  const std::size_t bytes =
      tensor.bytes.size() / static_cast<std::size_t>(tensor.shape[0]);
  std::vector<std::byte> taken;
  taken.reserve(rows.size() * bytes);
  for (const std::int32_t row : rows) {
    const auto begin =
        tensor.bytes.begin() + static_cast<std::ptrdiff_t>(bytes) * row;
    taken.insert(taken.end(), begin,
                 begin + static_cast<std::ptrdiff_t>(bytes));
  }
  tensor.bytes = std::move(taken);
}

}  // namespace

std::string ArrangeClasses(const Names& file, const Names& model,
                           const std::string& head, TensorMap& found) {
  const auto rows = static_cast<std::int64_t>(file.size());
  const auto weight = found.find(head + "weight");
  if (file.size() != model.size() || weight == found.end() ||
      weight->second.shape.empty() || weight->second.shape[0] != rows) {
    return "";  // Needs a row for each name.
  }
  const ClassMatch match = MatchClasses(model, file);
  if (match.fits && match.to_model.empty()) {
    return "";
  }
  if (!match.fits) {
    found.erase(head + "bias");
    found.erase(weight);
    return fmt::format("; its classes are {}; the data's are {}",
                       CountedList(file), CountedList(model));
  }
  for (auto& [name, tensor] : found) {
    if (name.starts_with(head) && !tensor.shape.empty() &&
        tensor.shape[0] == rows) {
      TakeRows(match.to_model, tensor);
    }
  }
  return "; the classifier's rows are put into the order of the data's "
         "classes, by their names";
}

bool IsTorchFile(const std::string& path) {
  std::error_code ignored;
  return fs::is_regular_file(path, ignored) && IsOfTorch(ReadHead(path));
}

WarmStarted WarmStart(const std::string& path, const ModelOptions& model,
                      TensorMap& weights, const Names& class_names) {
  const std::vector<LayerPlan> layers = PlanLayers(model);
  FoundWeights found = ReadWeights(path, layers);
  const std::string stem = layers.front().name + ".weight";
  const std::string adapted =
      AdaptInputChannels(weights.at(stem), stem, found.tensors);
  const std::string head = layers.back().name + ".";
  const Names file_names = ModelLabels::OfWeights(path).names();
  const std::string arranged =
      ArrangeClasses(file_names, class_names, head, found.tensors);
  const Fit fit = Compare(weights, found.tensors, head);
  RequireAll(fit, path);
  for (const std::string& name : fit.taken) {
    weights[name] = std::move(found.tensors[name]);
  }
  WarmStarted started;
  started.text = fmt::format("starting from {}: {} taken", found.what,
                             CountText(fit.taken.size(), "tensor")) +
                 adapted + arranged;
  if (fit.head.empty() && file_names.empty() && !class_names.empty()) {
    started.text +=
        "; the classifier's rows are taken by number, as the weights have no "
        "class names";
  }
  if (!fit.head.empty()) {
    const std::string name = head + "weight";
    const bool is_there = found.tensors.contains(name);
    const std::string shape = is_there ? ShapeText(found.tensors[name])
                              : arranged.empty() ? "none"
                                                 : "that of other classes";
    started.text += fmt::format(
        "; the classifier {} starts from new weights: the file has {}",
        layers.back().name, shape);
    started.head_left =
        fmt::format("the classifier {} is {} in the file and {} in the model",
                    layers.back().name, shape, ShapeText(weights[name]));
  }
  if (!fit.unused.empty()) {
    started.text += "; unused tensors: " + List(fit.unused);
  }
  return started;
}

}  // namespace infeed

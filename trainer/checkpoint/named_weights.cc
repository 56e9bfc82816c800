#include "trainer/checkpoint/named_weights.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <system_error>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/error.h"
#include "records/bytes/cache_folder.h"
#include "records/bytes/whole_number.h"
#include "records/files/open_source.h"
#include "trainer/formats/tensor_bundle.h"
#include "trainer/model/named_networks.h"

namespace infeed {
namespace {

namespace fs = std::filesystem;
using Names = std::vector<std::string>;

constexpr const char* kVariable = "INFEED_WEIGHTS";
constexpr std::array<std::string_view, 3> kExtensions = {".safetensors", ".pth",
                                                         ".pt"};
constexpr std::string_view kResNet = "resnet";

std::string ReadVariable(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

// The folder of torch.hub; "": there is none.
std::string HubFolder() {
  std::string home = ReadVariable("TORCH_HOME");
  if (home.empty() && !UserCacheFolder().empty()) {
    home = UserCacheFolder() + "/torch";
  }
  return home.empty() ? "" : home + "/hub/checkpoints";
}

Names ListFolder(const std::string& folder) {
  Names names;
  std::error_code error;
  for (const fs::directory_entry& entry :
       fs::directory_iterator(folder, error)) {
    names.push_back(entry.path().filename().string());
  }
  return names;
}

// The weights in a folder; nullopt: none.
std::optional<std::string> FindIn(const std::string& folder, Names files,
                                  const std::string& name,
                                  std::string_view parameter) {
  std::erase_if(files, [&](const std::string& file) {
    return !IsFileOfWeights(file, name);
  });
  if (files.size() > 1) {
    std::ranges::sort(files);
    throw UsageError(fmt::format(
        "{}={}: {} has several files of this name, {}: give the "
        "path of one of them",
        parameter, name, PathForMessages(folder), fmt::join(files, ", ")));
  }
  return files.empty() ? std::nullopt
                       : std::optional(FileInFolder(folder, files.front()));
}

// 18 of "resnet18" and "resnet18_v2", 50 of "seresnet50"; nullopt for names of
// no ResNet.
std::optional<int> DepthOf(std::string_view name) {
  if (const NamedNetwork* const network = FindNetwork(name)) {
    return network->shape.depth;
  }
  if (!name.starts_with(kResNet)) {
    return std::nullopt;
  }
  name.remove_prefix(kResNet.size());
  return TakePlainNumber<int>(name);
}

// How to get torchvision's weights of this name; "": torchvision has none.
std::string HowToGet(const std::string& name) {
  const NamedNetwork* const network = FindNetwork(name);
  return network != nullptr && network->library == kOfTorchvision
             ? fmt::format(
                   "; to fill torch's cache: python -c 'import "
                   "torchvision; torchvision.models.{}(weights="
                   "\"DEFAULT\")'",
                   name)
             : "";
}

[[noreturn]] void ThrowNotFound(std::string_view parameter,
                                const std::string& name,
                                const Names& searched) {
  throw UsageError(fmt::format(
      "{}={}: no such file, and no weights of this name ({}.pth, {}-*.pth or "
      ".safetensors) in {}{}",
      parameter, name, name, name,
      searched.empty() ? std::string("any folder")
                       : fmt::format("{}", fmt::join(searched, ", ")),
      HowToGet(name)));
}

}  // namespace

bool IsWeightsName(const std::string& given) {
  std::error_code ignored;
  return !given.empty() && !IsUrl(given) &&
         given.find('/') == std::string::npos &&
         std::ranges::none_of(kExtensions,
                              [&](std::string_view extension) {
                                return given.ends_with(extension);
                              }) &&
         !fs::exists(given, ignored) && !FindTensorBundle(given);
}

bool IsLookedUpAtUrl(const std::string& given) {
  return IsUrl(ReadVariable(kVariable)) && IsWeightsName(given);
}

bool IsFileOfWeights(const std::string& file, const std::string& name) {
  return std::ranges::any_of(kExtensions, [&](std::string_view extension) {
    if (!file.ends_with(extension)) {
      return false;
    }
    const std::string stem = file.substr(0, file.size() - extension.size());
    return stem == name || stem.starts_with(name + "-");
  });
}

std::string FileInFolder(const std::string& folder, const std::string& file) {
  const std::size_t query = IsUrl(folder) ? folder.find('?') : folder.npos;
  const std::string path = folder.substr(0, query);
  return path + (path.ends_with('/') ? "" : "/") + file +
         (query == folder.npos ? "" : folder.substr(query));
}

std::vector<std::string> PlainNamesOf(const std::string& name) {
  Names names;
  for (const std::string_view extension : kExtensions) {
    names.push_back(name + std::string(extension));
  }
  return names;
}

std::string FindWeights(const std::string& given, std::string_view parameter,
                        const ListStoredWeights& list) {
  if (!IsWeightsName(given)) {
    return given;
  }
  Names searched;
  for (const std::string& folder : {ReadVariable(kVariable), HubFolder()}) {
    if (folder.empty()) {
      continue;
    }
    searched.push_back(PathForMessages(folder));
    if (std::optional<std::string> found = FindIn(
            folder, IsUrl(folder) ? list(folder, given) : ListFolder(folder),
            given, parameter)) {
      return *std::move(found);
    }
  }
  if (ReadVariable(kVariable).empty()) {
    searched.insert(searched.begin(), fmt::format("${} (not set)", kVariable));
  }
  ThrowNotFound(parameter, given, searched);
}

void RequireDepthOfName(const std::string& given, const ModelOptions& model) {
  const std::optional<int> depth = DepthOf(given);
  if (depth && model.kind == ModelKind::kResNet && *depth != model.depth &&
      IsWeightsName(given)) {
    throw UsageError(
        fmt::format("resnet_checkpoint={}: these are weights of {} layers, but "
                    "resnet_depth is {}",
                    given, *depth, model.depth));
  }
}

}  // namespace infeed

#include "trainer/formats/wrapper_names.h"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <utility>

namespace infeed {
namespace {

bool IsOfLayer(const TensorMap::value_type& tensor) {
  return tensor.first.find('.') != std::string::npos;
}

// Renames each tensor of a layer.
template <typename Rename>
TensorMap Renamed(TensorMap tensors, Rename rename) {
  TensorMap renamed;
  while (!tensors.empty()) {
    auto node = tensors.extract(tensors.begin());
    if (node.key().find('.') != std::string::npos) {
      node.key() = rename(std::move(node.key()));
    }
    renamed.insert(std::move(node));
  }
  return renamed;
}

// The name without wrappers' parts, each a whole component.
std::string WithoutParts(std::string name) {
  constexpr std::array<std::string_view, 3> kParts = {
      "_orig_mod.", "_fsdp_wrapped_module.", "_checkpoint_wrapped_module."};
  for (const std::string_view part : kParts) {
    for (std::size_t at = 0; (at = name.find(part, at)) != std::string::npos;) {
      if (at == 0 || name[at - 1] == '.') {
        name.erase(at, part.size());
      } else {
        at += part.size();
      }
    }
  }
  return name;
}

// The wrapper prefix that all layers' tensors have; "": none.
std::string_view CommonPrefix(const TensorMap& tensors) {
  constexpr std::array<std::string_view, 3> kPrefixes = {"module.", "model.",
                                                         "state_dict."};
  if (std::ranges::none_of(tensors, IsOfLayer)) {
    return "";
  }
  for (const std::string_view prefix : kPrefixes) {
    if (std::ranges::all_of(tensors, [&](const auto& tensor) {
          return !IsOfLayer(tensor) || tensor.first.starts_with(prefix);
        })) {
      return prefix;
    }
  }
  return "";
}

}  // namespace

TensorMap WithoutWrappers(TensorMap tensors) {
  tensors = Renamed(std::move(tensors), WithoutParts);
  for (std::string_view prefix = CommonPrefix(tensors); !prefix.empty();
       prefix = CommonPrefix(tensors)) {
    tensors = Renamed(std::move(tensors), [&](const std::string& name) {
      return name.substr(prefix.size());
    });
  }
  return tensors;
}

}  // namespace infeed

#include "trainer/params/table.h"

#include <algorithm>
#include <iterator>
#include <type_traits>
#include <vector>

#include <fmt/format.h>

#include "base/error.h"
#include "trainer/params/nearest_name.h"
#include "trainer/params/ranges.h"

namespace infeed {
namespace {

using P = TrainParams;

const ParamGroup kGroups[] = {
    {"Model", ModelParams()},
    {"Data and preprocessing", DataParams()},
    {"Input engine", InputParams()},
    {"Length, checkpoints and logs", RunLengthParams()},
    {"Learning", OptimizerParams()},
};

const UnsupportedParam kUnsupported[] = {
    {"use_tpu", "true", kTruth,
     "there is no TPU here, --device chooses the device"},
    {"num_cores", "8", "",
     "each process drives one device, and how many there are the ranks decide "
     "(--local_ranks, or a launcher)"},
    {"transpose_input", "true", kTruth,
     "the layout in memory is chosen here, the fastest for the device"},
    {"data_format", "channels_last", "channels_last|channels_first",
     "the layout in memory is chosen here, channels_last for every model"},
    {"norm_act_layer", "bn_relu", "bn_relu", "EvoNorm is not implemented"},
};

std::vector<Param> AllParams() {
  std::vector<Param> all;
  for (const ParamGroup& group : kGroups) {
    all.insert(all.end(), group.params.begin(), group.params.end());
  }
  return all;
}

std::vector<std::string_view> AllNames() {
  std::vector<std::string_view> names;
  for (const Param& param : ParamTable()) {
    names.push_back(param.name);
  }
  for (const UnsupportedParam& param : kUnsupported) {
    names.push_back(param.name);
  }
  return names;
}

}  // namespace

std::span<const ParamGroup> ParamGroups() { return kGroups; }

std::span<const Param> ParamTable() {
  static const std::vector<Param> all = AllParams();
  return all;
}

std::span<const UnsupportedParam> UnsupportedParams() { return kUnsupported; }

const Param* FindParam(std::string_view name) {
  const std::string_view known = name == kOldDepthName ? "resnet_depth" : name;
  const std::span<const Param> table = ParamTable();
  const auto found = std::ranges::find(table, known, &Param::name);
  return found == table.end() ? nullptr : &*found;
}

const UnsupportedParam* FindUnsupportedParam(std::string_view name) {
  const UnsupportedParam* const found =
      std::ranges::find(kUnsupported, name, &UnsupportedParam::name);
  return found == std::end(kUnsupported) ? nullptr : found;
}

std::string_view NearestParamName(std::string_view name) {
  static const std::vector<std::string_view> names = AllNames();
  return NearestName(name, names);
}

std::string_view TypeText(const Param& param) {
  if (std::holds_alternative<double P::*>(param.field)) {
    return "number";
  }
  if (std::holds_alternative<bool P::*>(param.field)) {
    return "true or false";
  }
  if (std::holds_alternative<std::string P::*>(param.field)) {
    return "text";
  }
  return "integer";
}

std::string ValueText(const Param& param, const TrainParams& params) {
  return std::visit(
      [&](auto field) {
        if constexpr (std::is_same_v<decltype(field), std::int64_t P::*>) {
          if (param.unit == "bytes") {
            return BytesText(params.*field);
          }
        }
        return fmt::format("{}", params.*field);
      },
      param.field);
}

std::string BytesText(std::int64_t bytes) {
  for (const auto& [shift, suffix] :
       {std::pair(40, "TiB"), std::pair(30, "GiB"), std::pair(20, "MiB")}) {
    if (bytes % (std::int64_t{1} << shift) == 0) {
      return fmt::format("{}{}", bytes >> shift, suffix);
    }
  }
  return std::to_string(bytes);
}

bool IsGiven(const Param& param, const TrainParams& params) {
  const std::string text = ValueText(param, params);
  return param.when_not_given.empty() || (text != "0" && !text.empty());
}

}  // namespace infeed

#include "trainer/param_table.h"

#include <algorithm>
#include <iterator>
#include <numeric>
#include <type_traits>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/error.h"
#include "trainer/param_ranges.h"

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
    {"use_tpu", "true", "there is no TPU here: --device says where it runs"},
    {"num_cores", "8", "a process drives one device"},
    {"transpose_input", "true",
     "the device chooses the layout that it is fastest with"},
    {"data_format", "channels_last",
     "every model lies in channels_last order, the fast one"},
    {"norm_act_layer", "bn_relu", "EvoNorm is not implemented"},
};

std::vector<Param> AllParams() {
  std::vector<Param> all;
  for (const ParamGroup& group : kGroups) {
    all.insert(all.end(), group.params.begin(), group.params.end());
  }
  return all;
}

// Levenshtein's distance, one row at a time.
std::size_t EditDistance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = std::exchange(row[0], i + 1);
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t replace = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({replace, row[j] + 1, diagonal + 1});
    }
  }
  return row.back();
}

}  // namespace

std::span<const ParamGroup> ParamGroups() { return kGroups; }

std::span<const Param> ParamTable() {
  static const std::vector<Param> all = AllParams();
  return all;
}

std::span<const UnsupportedParam> UnsupportedParams() { return kUnsupported; }

const Param* FindParam(std::string_view name) {
  // The flag's name in older texts about the reference.
  const std::string_view known = name == "resnet_size" ? "resnet_depth" : name;
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
  if (name.size() < 3 || name.size() > 64) {
    return "";  // Not a slip of the pen.
  }
  std::string_view nearest;
  std::size_t fewest = std::max<std::size_t>(2, name.size() / 3) + 1;
  const auto look_at = [&](std::string_view known) {
    // Part of a name is as good as a slip: "batch_size".
    const bool part = known.find(name) != std::string_view::npos;
    const std::size_t edits = part ? 2 : EditDistance(name, known);
    if (edits < fewest) {
      fewest = edits;
      nearest = known;
    }
  };
  for (const Param& param : ParamTable()) {
    look_at(param.name);
  }
  for (const UnsupportedParam& param : kUnsupported) {
    look_at(param.name);
  }
  return nearest;
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

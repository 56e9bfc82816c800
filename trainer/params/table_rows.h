#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "trainer/params/table.h"

// Declarations that the table's files share.
namespace infeed {

inline Param Row(std::string_view name, OptionField<TrainParams> field,
                 OptionRange range, std::string_view unit,
                 std::string_view help, std::string_view when_not_given = {}) {
  return {{.name = name,
           .choices = field.choices,
           .range = range,
           .unit = unit,
           .help = help,
           .when_not_given = when_not_given},
          field.at};
}

// Marks a row whose flag --help shows.
inline Param Common(Param row) {
  row.is_common = true;
  return row;
}

// Fields in which a parameter differs from the input's option; empty: no
// difference.
struct Otherwise {
  std::string_view name = {};
  std::optional<OptionRange> range = {};
  std::string_view help = {};
  std::string_view when_not_given = {};
};

[[nodiscard]] Param Input(std::string_view option, const Otherwise& other = {});

// The rows of the groups Model and Learning.
[[nodiscard]] std::span<const Param> ModelParams();
[[nodiscard]] std::span<const Param> LearningParams();

}  // namespace infeed

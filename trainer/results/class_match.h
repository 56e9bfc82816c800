#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace infeed {

// Maps the classes of data to those of a model.
struct ClassMatch {
  // Whether each class of the data is one of the model's; true if one side has
  // no names.
  bool fits = true;
  // The model's class of each class of the data; empty: the same number.
  std::vector<std::int32_t> to_model = {};
};

// Compares the names of the data's classes with those of the model's. Names
// that one side has twice fit only in the same places.
[[nodiscard]] ClassMatch MatchClasses(const std::vector<std::string>& data,
                                      const std::vector<std::string>& model);

// "3 (cat, dog, fish)", for messages: the first names.
[[nodiscard]] std::string CountedList(const std::vector<std::string>& names,
                                      std::size_t most = 20);

}  // namespace infeed

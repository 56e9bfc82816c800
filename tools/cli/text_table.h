#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

// Text for people: aligned columns and rounded numbers.
namespace infeed {

// Columns as wide as their widest cell, two spaces apart. Columns whose name
// starts with '>' are aligned to the right, the others to the left.
class TextTable {
 public:
  explicit TextTable(const std::vector<std::string>& columns);

  // Requires: as many cells as columns.
  void Add(std::vector<std::string> cells);
  // All rows, each with its newline; no spaces at their ends.
  [[nodiscard]] std::string Text() const;

 private:
  std::vector<bool> right_;
  std::vector<std::vector<std::string>> rows_;
};

// "12.3 %"; "-" if the whole is 0.
[[nodiscard]] std::string PercentText(std::int64_t part, std::int64_t whole);

// Text without control characters, cut to a number of characters, with an
// ellipsis if it was cut.
[[nodiscard]] std::string ShortText(std::string_view text,
                                    std::size_t max_characters);

}  // namespace infeed

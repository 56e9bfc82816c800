#pragma once

#include <string>
#include <string_view>
#include <vector>

// Parts of a self-contained HTML page in the light or dark colours of the
// reader's system. `body` and `content` must be HTML already.
namespace infeed {

[[nodiscard]] std::string HtmlPage(std::string_view title,
                                   std::string_view body);

// A box with a title; "" if content is empty. kind: "", "wide" for a box of the
// full page width, "map" for a plot that keeps its size.
[[nodiscard]] std::string HtmlCard(std::string_view title,
                                   std::string_view content,
                                   std::string_view kind = "");

// A table; "" if there are no rows. The first column is text; the others are
// numbers, or text if kind is "text".
[[nodiscard]] std::string HtmlTable(
    const std::vector<std::string>& header,
    const std::vector<std::vector<std::string>>& rows,
    std::string_view kind = "");

// Content that a click on its title shows; "" if content is empty.
[[nodiscard]] std::string HtmlDetails(std::string_view title,
                                      std::string_view content);

// A figure with its name, for the top of the page.
[[nodiscard]] std::string HtmlTile(std::string_view value,
                                   std::string_view name);

// "12.3 %" with a no-break space: in narrow captions, lines never break between
// a number and its unit.
[[nodiscard]] std::string HtmlPercent(double fraction);

// Base64 with the alphabet A-Z a-z 0-9 + /, padded with =.
[[nodiscard]] std::string Base64(std::string_view bytes);

}  // namespace infeed

#pragma once

#include <string>
#include <string_view>
#include <vector>

// The frame of an HTML page that needs no other file: plain, in the colours of
// the reader's system, light or dark. What is handed in is HTML already.
namespace infeed {

[[nodiscard]] std::string HtmlPage(std::string_view title,
                                   std::string_view body);

// A box with a title; "" without content. kind: "", "wide" for one over the
// whole width, "map" for a plot that does not grow with it.
[[nodiscard]] std::string HtmlCard(std::string_view title,
                                   std::string_view content,
                                   std::string_view kind = "");

// A table; "" without rows. The first column is text, the others are numbers,
// or text of kind "text".
[[nodiscard]] std::string HtmlTable(
    const std::vector<std::string>& header,
    const std::vector<std::vector<std::string>>& rows,
    std::string_view kind = "");

// What is shown when its title is clicked; "" without content.
[[nodiscard]] std::string HtmlDetails(std::string_view title,
                                      std::string_view content);

// A figure with its name, for the top of the page.
[[nodiscard]] std::string HtmlTile(std::string_view value,
                                   std::string_view name);

// Bytes as text of letters, digits, + and /, padded with =.
[[nodiscard]] std::string Base64(std::string_view bytes);

}  // namespace infeed

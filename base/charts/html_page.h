#pragma once

#include <string>
#include <string_view>
#include <vector>

// Parts of a self-contained HTML page in the light or dark colours of the
// reader's system. `body` and `content` must be HTML already.
namespace infeed {

[[nodiscard]] std::string HtmlPage(std::string_view title,
                                   std::string_view body);

// A box with a title. kind: "", or "wide" for a box of the full page width.
struct HtmlBox {
  std::string title;
  std::string content;
  std::string kind = {};
};
// "" if content is empty.
[[nodiscard]] std::string HtmlCard(const HtmlBox& box);

// The boxes that have content, two in a row. One that would be alone in its row
// gets all of it.
[[nodiscard]] std::string HtmlCards(std::vector<HtmlBox> boxes);

// A table; "" if there are no rows. The first column is text; the others are
// numbers, or text if kind is "text". A column of dashes is left out.
[[nodiscard]] std::string HtmlTable(
    const std::vector<std::string>& header,
    const std::vector<std::vector<std::string>>& rows,
    std::string_view kind = "");

// Content that a click on its title shows; "" if content is empty.
[[nodiscard]] std::string HtmlDetails(std::string_view title,
                                      std::string_view content);

// A figure with its name; and several of them for the top of the page, where no
// row has only one.
[[nodiscard]] std::string HtmlTile(std::string_view value,
                                   std::string_view name);
[[nodiscard]] std::string HtmlTiles(const std::vector<std::string>& tiles);

// "12.3 %" with a no-break space: in narrow captions, lines never break between
// a number and its unit.
[[nodiscard]] std::string HtmlPercent(double fraction);

// Base64 with the alphabet A-Z a-z 0-9 + /, padded with =.
[[nodiscard]] std::string Base64(std::string_view bytes);

}  // namespace infeed

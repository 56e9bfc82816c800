#include "base/charts/html_page.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include <fmt/format.h>

namespace infeed {
namespace {

constexpr std::string_view kStyle = R"(<style>
:root { color-scheme: light dark; --back: #fff; --card: #f6f7f9;
  --text: #1d2430; --soft: #667085; --line: #dde1e8; --bar: #3b6fd4;
  --second: #c4570f; --third: #2f8f5b; --bad: #c62828; }
@media (prefers-color-scheme: dark) { :root { --back: #14171c;
  --card: #1d2128; --text: #e6e9ef; --soft: #98a2b3; --line: #323844;
  --bar: #7aa2f7; --second: #f0a35e; --third: #6bd09a;
  --bad: #ff8a80; } }
body { margin: 2rem auto; max-width: 72rem; padding: 0 1rem;
  background: var(--back); color: var(--text);
  font: 15px/1.5 system-ui, sans-serif; }
h1 { font-size: 1.5rem; margin: 0 0 1rem; }
h2 { font-size: 1rem; margin: 0 0 .75rem; }
.tiles { display: flex; flex-wrap: wrap; gap: .75rem; margin-bottom: 1rem; }
.tiles div { display: flex; gap: .75rem; }
.pair { flex: 2 0 10.35rem; max-width: 18.75rem; }
.three { flex: 3 0 15.9rem; max-width: 28.5rem; }
.tiles .tile { display: block; background: var(--card);
  border-radius: .5rem; padding: .6rem 1rem; flex: 1 0 4.8rem;
  max-width: 9rem; box-sizing: border-box; }
.tile b { display: block; font-size: 1.25rem; white-space: nowrap; }
.tile span, .note, th { color: var(--soft); font-size: .85rem; }
.cards { display: grid; gap: 1rem;
  grid-template-columns: repeat(auto-fit, minmax(26rem, 1fr)); }
.card { background: var(--card); border-radius: .5rem; padding: 1rem;
  overflow-x: auto; }
.wide { grid-column: 1 / -1; }
svg { display: block; width: 100%; height: auto; }
.lone svg { max-width: 34rem; }
.bar { fill: var(--bar); }
.line { fill: none; stroke-width: 1.6; stroke-linejoin: round; }
.s1 { stroke: var(--bar); } .s2 { stroke: var(--second); }
.s3 { stroke: var(--third); }
.dot { stroke-width: 1.6; fill: var(--card); }
.mark { stroke: var(--soft); stroke-dasharray: 4 4; }
.grid { stroke: var(--line); stroke-width: 1; }
.tick { fill: var(--soft); font: 11px system-ui, sans-serif; }
table { border-collapse: collapse; width: 100%; }
th, td { text-align: right; padding: .15rem .5rem; font-weight: normal;
  border-bottom: 1px solid var(--line); font-variant-numeric: tabular-nums; }
.text td:nth-child(n+2), .text th:nth-child(n+2) { text-align: left; }
.text td { overflow-wrap: anywhere; }
.text td:first-child { overflow-wrap: normal; white-space: nowrap; }
th:first-child, td:first-child { text-align: left; padding-left: 0; }
.heat td { text-align: center; min-width: 2rem; }
.heat th { text-align: center; vertical-align: bottom; }
.heat td:first-child { text-align: right; }
.upright td:first-child { white-space: nowrap; }
.upright span { writing-mode: vertical-rl; transform: rotate(180deg);
  white-space: nowrap; }
.matrix { max-width: 100%; height: auto; }
.alone { margin-bottom: 1rem; }
.heat .dark { color: #fff; }
p { margin: 0 0 .5rem; }
p:last-child { margin: 0; }
summary { cursor: pointer; color: var(--soft); margin: .5rem 0; }
a { color: var(--bar); }
.photos { display: flex; flex-wrap: wrap; gap: .75rem; }
figure { margin: 0; width: 128px; }
figure img { display: block; border-radius: .35rem; }
.right b { color: var(--third); } .right img { border-color: var(--third); }
.wrong b { color: var(--bad); } .wrong img { border-color: var(--bad); }
.right img, .wrong img { border-style: solid; border-width: 3px;
  box-sizing: border-box; }
figcaption { color: var(--soft); font-size: .8rem; overflow-wrap: anywhere; }
</style>
)";

// shown: by column.
std::string Row(const std::vector<std::string>& cells,
                const std::vector<bool>& shown, std::string_view kind) {
  std::string row = "<tr>";
  for (std::size_t i = 0; i < cells.size(); ++i) {
    row += shown[i] ? fmt::format("<{0}>{1}</{0}>", kind, cells[i]) : "";
  }
  return row + "</tr>\n";
}

}  // namespace

std::string HtmlPage(std::string_view title, std::string_view body) {
  return fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n"
      "<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, "
      "initial-scale=1\">\n"
      "<title>{0}</title>\n{1}</head>\n<body>\n<h1>{0}</h1>\n{2}</body>\n"
      "</html>\n",
      title, kStyle, body);
}

std::string HtmlCard(const HtmlBox& box) {
  return box.content.empty()
             ? ""
             : fmt::format(
                   "<section class=\"card {}\">\n<h2>{}</h2>\n{}</section>\n",
                   box.kind, box.title, box.content);
}

std::string HtmlCards(std::vector<HtmlBox> boxes) {
  std::erase_if(boxes, [](const HtmlBox& box) { return box.content.empty(); });
  std::string html;
  std::size_t in_row = 0;
  for (std::size_t i = 0; i < boxes.size(); ++i) {
    const bool is_wide = boxes[i].kind.starts_with("wide");
    const bool ends_row =
        i + 1 == boxes.size() || boxes[i + 1].kind.starts_with("wide");
    if (!is_wide && in_row % 2 == 0 && ends_row) {
      boxes[i].kind = "wide lone";
    }
    in_row = is_wide ? 0 : in_row + 1;
    html += HtmlCard(boxes[i]);
  }
  return "<div class=\"cards\">\n" + html + "</div>\n";
}

std::string HtmlTiles(const std::vector<std::string>& tiles) {
  std::string html;
  for (std::size_t i = 0; i < tiles.size();) {
    const std::size_t left = tiles.size() - i;
    const std::size_t count = left == 3 ? 3 : std::min<std::size_t>(2, left);
    html += count == 3 ? "<div class=\"three\">\n" : "<div class=\"pair\">\n";
    for (const std::size_t end = i + count; i < end; ++i) {
      html += tiles[i];
    }
    html += "</div>\n";
  }
  return "<div class=\"tiles\">\n" + html + "</div>\n";
}

std::string HtmlTile(std::string_view value, std::string_view name) {
  return fmt::format("<div class=\"tile\"><b>{}</b><span>{}</span></div>\n",
                     value, name);
}

std::string HtmlPercent(double fraction) {
  return fmt::format("{:.1f}\u00a0%", 100 * fraction);
}

std::string HtmlTable(const std::vector<std::string>& header,
                      const std::vector<std::vector<std::string>>& rows,
                      std::string_view kind) {
  if (rows.empty()) {
    return "";
  }
  std::vector<bool> shown(header.size());
  for (std::size_t i = 0; i < header.size(); ++i) {
    shown[i] = std::ranges::any_of(
        rows, [i](const auto& row) { return row[i] != "-"; });
  }
  std::string table =
      fmt::format("<table class=\"{}\">\n", kind) + Row(header, shown, "th");
  for (const auto& row : rows) {
    table += Row(row, shown, "td");
  }
  return table + "</table>\n";
}

std::string HtmlDetails(std::string_view title, std::string_view content) {
  return content.empty()
             ? ""
             : fmt::format("<details>\n<summary>{}</summary>\n{}</details>\n",
                           title, content);
}

std::string Base64(std::string_view bytes) {
  constexpr std::string_view kLetters =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    const std::size_t count = std::min<std::size_t>(bytes.size() - i, 3);
    std::uint32_t bits = 0;
    for (std::size_t k = 0; k < 3; ++k) {
      bits = bits << 8 |
             (k < count ? static_cast<unsigned char>(bytes[i + k]) : 0U);
    }
    for (std::size_t k = 0; k < 4; ++k) {
      text += k <= count ? kLetters[bits >> (18 - 6 * k) & 63] : '=';
    }
  }
  return text;
}

}  // namespace infeed

#include "tools/html_page.h"

#include <fmt/format.h>

namespace infeed {
namespace {

constexpr std::string_view kStyle = R"(<style>
:root { color-scheme: light dark; --back: #fff; --card: #f6f7f9;
  --text: #1d2430; --soft: #667085; --line: #dde1e8; --bar: #3b6fd4; }
@media (prefers-color-scheme: dark) { :root { --back: #14171c;
  --card: #1d2128; --text: #e6e9ef; --soft: #98a2b3; --line: #323844;
  --bar: #7aa2f7; } }
body { margin: 2rem auto; max-width: 72rem; padding: 0 1rem;
  background: var(--back); color: var(--text);
  font: 15px/1.5 system-ui, sans-serif; }
h1 { font-size: 1.5rem; margin: 0 0 1rem; }
h2 { font-size: 1rem; margin: 0 0 .75rem; }
.tiles { display: flex; flex-wrap: wrap; gap: .75rem; margin-bottom: 1rem; }
.tile { background: var(--card); border-radius: .5rem;
  padding: .6rem 1rem; flex: 1 0 7rem; }
.tile b { display: block; font-size: 1.25rem; white-space: nowrap; }
.tile span, .note, th { color: var(--soft); font-size: .85rem; }
.cards { display: grid; gap: 1rem;
  grid-template-columns: repeat(auto-fit, minmax(26rem, 1fr)); }
.card { background: var(--card); border-radius: .5rem; padding: 1rem;
  overflow-x: auto; }
.wide { grid-column: 1 / -1; }
svg { display: block; width: 100%; height: auto; }
.map svg { max-width: 34rem; }
.bar { fill: var(--bar); }
.grid { stroke: var(--line); stroke-width: 1; }
.tick { fill: var(--soft); font: 11px system-ui, sans-serif; }
table { border-collapse: collapse; width: 100%; }
th, td { text-align: right; padding: .15rem .5rem; font-weight: normal;
  border-bottom: 1px solid var(--line); font-variant-numeric: tabular-nums; }
th:first-child, td:first-child { text-align: left; padding-left: 0; }
.photos { display: flex; flex-wrap: wrap; gap: .75rem; }
figure { margin: 0; width: 128px; }
figure img { display: block; border-radius: .35rem; }
figcaption { color: var(--soft); font-size: .8rem; overflow: hidden;
  text-overflow: ellipsis; white-space: nowrap; }
</style>
)";

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

std::string HtmlCard(std::string_view title, std::string_view content,
                     std::string_view kind) {
  return content.empty()
             ? ""
             : fmt::format(
                   "<section class=\"card {}\">\n<h2>{}</h2>\n{}</section>\n",
                   kind, title, content);
}

std::string HtmlTile(std::string_view value, std::string_view name) {
  return fmt::format("<div class=\"tile\"><b>{}</b><span>{}</span></div>\n",
                     value, name);
}

}  // namespace infeed

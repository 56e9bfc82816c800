#include "trainer/report/renew_report.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "base/atomic_file.h"
#include "base/charts/html_page.h"
#include "trainer/log/run_history.h"
#include "trainer/model_dir/model_dir.h"

namespace infeed {
namespace {

constexpr std::int64_t kMaxReportBytes = std::int64_t{256} << 20;
constexpr std::string_view kTiles = "<div class=\"tiles\">\n";
constexpr std::string_view kCards = "<div class=\"cards\">\n";
constexpr std::string_view kCardsEnd = "</div>\n</body>";

// The parts of a ReportPage(): tiles and boxes, each a title with its content.
struct PageParts {
  std::string head;
  std::vector<HtmlBox> tiles = {};
  std::string middle;
  std::vector<HtmlBox> boxes = {};
  std::string tail;
};

// Takes the text up to the next `end` off `text`, and `end`; all of it if there
// is none.
std::string_view TakeUpTo(std::string_view end, std::string_view& text) {
  const std::size_t at = std::min(text.find(end), text.size());
  const std::string_view taken = text.substr(0, at);
  text.remove_prefix(std::min(at + end.size(), text.size()));
  return taken;
}

std::vector<HtmlBox> ParseTiles(std::string_view html) {
  std::vector<HtmlBox> tiles;
  TakeUpTo("<div class=\"tile\"><b>", html);
  while (!html.empty()) {
    std::string_view tile = TakeUpTo("<div class=\"tile\"><b>", html);
    const std::string_view value = TakeUpTo("</b><span>", tile);
    tiles.push_back(
        {std::string(TakeUpTo("</span>", tile)), std::string(value)});
  }
  return tiles;
}

std::vector<HtmlBox> ParseBoxes(std::string_view html) {
  std::vector<HtmlBox> boxes;
  TakeUpTo("<section class=\"card ", html);
  while (!html.empty()) {
    std::string_view box = TakeUpTo("<section class=\"card ", html);
    const std::string_view kind = TakeUpTo("\">\n<h2>", box);
    const std::string_view title = TakeUpTo("</h2>\n", box);
    boxes.push_back({std::string(title),
                     std::string(TakeUpTo("</section>", box)),
                     kind == "wide lone" ? "" : std::string(kind)});
  }
  return boxes;
}

// Only head if the text is no ReportPage().
PageParts PartsOf(const std::string& page) {
  const std::size_t tiles = page.find(kTiles);
  const std::size_t tiles_end = page.find("</div>\n</div>\n</div>\n", tiles);
  const std::size_t cards = page.find(kCards);
  const std::size_t end = page.rfind(kCardsEnd);
  if (tiles_end == std::string::npos || cards == std::string::npos ||
      end == std::string::npos || cards < tiles_end || end < cards) {
    return {.head = page, .middle = "", .tail = ""};
  }
  constexpr std::string_view kTilesEnd = "</div>\n</div>\n</div>\n";
  const std::string_view text = page;
  const std::size_t middle = tiles_end + kTilesEnd.size();
  return {.head = page.substr(0, tiles),
          .tiles = ParseTiles(text.substr(tiles, tiles_end - tiles)),
          .middle = page.substr(middle, cards - middle),
          .boxes = ParseBoxes(text.substr(cards, end - cards)),
          .tail = page.substr(end + std::string_view("</div>\n").size())};
}

// The title without the step of an evaluation.
std::string_view PartName(const HtmlBox& box) {
  const std::string_view title = box.title;
  return title.substr(0, std::min(title.find(" at step "), title.size()));
}

bool IsOfEvaluations(const HtmlBox& box) {
  constexpr std::array<std::string_view, 10> kNames = {
      "Loss",        "Accuracy",          "Confusion matrix", "Classes",
      "ROC curve",   "Other evaluations", "top-1, last",      "top-1, best,",
      "top-5, last", "loss, evaluation"};
  return std::ranges::find(kNames, PartName(box)) != kNames.end();
}

// The old parts, with those of the evaluations from `fresh`, whose order is
// that of every report.
std::vector<HtmlBox> MergedParts(std::vector<HtmlBox> old,
                                 const std::vector<HtmlBox>& fresh) {
  std::size_t next = 0;  // where a part that `old` lacks belongs
  for (const HtmlBox& part : fresh) {
    const auto found = std::ranges::find(old, PartName(part), PartName);
    if (found != old.end()) {
      next = static_cast<std::size_t>(found - old.begin()) + 1;
      if (IsOfEvaluations(part)) {
        *found = part;
      }
    } else if (IsOfEvaluations(part)) {
      old.insert(old.begin() + static_cast<std::ptrdiff_t>(next), part);
      ++next;
    }
  }
  return old;
}

}  // namespace

std::string WithEvaluationsOf(const std::string& page,
                              const std::string& fresh) {
  PageParts parts = PartsOf(page);
  const PageParts newer = PartsOf(fresh);
  if (parts.boxes.empty() || newer.boxes.empty()) {
    return page;
  }
  std::vector<std::string> tiles;
  for (const HtmlBox& tile : MergedParts(std::move(parts.tiles), newer.tiles)) {
    tiles.push_back(HtmlTile(tile.content, tile.title));
  }
  return parts.head + HtmlTiles(tiles) + parts.middle +
         HtmlCards(MergedParts(std::move(parts.boxes), newer.boxes)) +
         parts.tail;
}

void RenewReport(const std::string& model_dir, const ReportSubject& subject,
                 ReportState state) {
  const std::string path = PathIn(model_dir, kReportFile);
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(path, ignored)) {
    return;
  }
  RunHistory history(model_dir);
  history.Update();
  if (!history.evaluations().empty() &&
      history.evaluations().back().step > state.evaluation_step) {
    state.evaluation.reset();
  }
  WriteFileAtomically(path,
                      WithEvaluationsOf(ReadWholeFile(path, kMaxReportBytes),
                                        ReportPage(subject, history, state)));
}

}  // namespace infeed

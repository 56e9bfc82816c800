#include "trainer/log/prediction_page.h"

#include <string_view>

#include <fmt/format.h>

#include "base/charts/html_page.h"
#include "base/charts/svg_parts.h"
#include "base/ratio.h"
#include "trainer/results/eval_result.h"

namespace infeed {
namespace {

constexpr int kSide = 128;  // of a picture on the page, as in the style sheet

std::string CountTiles(const PredictionCounts& counts) {
  const auto number = [](std::int64_t value) { return std::to_string(value); };
  const auto share = [&](std::int64_t right) {
    return Ratio(static_cast<double>(right),
                 static_cast<double>(counts.labelled));
  };
  std::vector<std::string> tiles;
  const auto add = [&tiles](const std::string& value, std::string_view name) {
    tiles.push_back(HtmlTile(value, name));
  };
  add(number(counts.images), counts.images == 1 ? "image" : "images");
  if (counts.labelled > 0) {
    add(number(counts.top_1), "right");
    add(number(counts.labelled - counts.top_1), "wrong");
    add(HtmlPercent(share(counts.top_1)), "top-1");
    if (HasTopFive(counts.classes)) {
      add(HtmlPercent(share(counts.top_5)), "top-5");
    }
  }
  if (counts.bad > 0) {
    add(number(counts.bad), counts.bad == 1 ? "bad image" : "bad images");
  }
  return HtmlTiles(tiles);
}

// How the images of a kind are marked.
struct Kind {
  std::string_view style;
  std::string_view mark;
};

// The image's name as HTML; its record's number if it has none.
std::string ImageName(const PredictionPageData& data, std::int64_t record) {
  const auto name = data.names.find(record);
  return name == data.names.end() ? std::to_string(record)
                                  : EscapeXml(name->second);
}

// "" for a prediction without a picture.
std::string Figure(const PredictionPageData& data, const ModelLabels& labels,
                   const ShownPrediction& shown, const Kind& kind) {
  const auto picture = data.pictures.find(shown.record);
  if (picture == data.pictures.end()) {
    return "";
  }
  const std::string name = ImageName(data, shown.record);
  const std::string predicted = EscapeXml(labels.NameOf(shown.predicted));
  const bool is_wrong = shown.label && *shown.label != shown.predicted;
  return fmt::format(
      "<figure class=\"{}\"><img width=\"{}\" height=\"{}\" alt=\"{}\" "
      "src=\"data:{};base64,{}\"><figcaption title=\"{}\"><b>{}{}</b> "
      "{}{}<br>{}</figcaption></figure>\n",
      kind.style, kSide, kSide, predicted, picture->second.type,
      Base64(picture->second.bytes), name, kind.mark, predicted,
      HtmlPercent(shown.probability),
      is_wrong ? "<br>is\u00a0" + EscapeXml(labels.NameOf(*shown.label)) : "",
      name.substr(name.rfind('/') + 1));
}

std::string BadTable(const PredictionPageData& data) {
  std::vector<std::vector<std::string>> rows;
  for (const BadImage& bad : data.bad) {
    rows.push_back({ImageName(data, bad.record), EscapeXml(bad.reason)});
  }
  return HtmlTable({"image", "why it has no prediction"}, rows, "text");
}

std::string Title(std::string_view kind, std::size_t shown, std::int64_t all,
                  std::string_view which) {
  return fmt::format("{}: {}{}", kind, all,
                     static_cast<std::int64_t>(shown) < all
                         ? fmt::format(", {} {} of them", which, shown)
                         : "");
}

}  // namespace

std::string PredictionPage(const PredictionPageData& data,
                           const ModelLabels& labels) {
  const PredictionCounts& counts = data.counts;
  const auto figures = [&](const std::vector<ShownPrediction>& list,
                           const Kind& kind) {
    std::string html;
    for (const ShownPrediction& shown : list) {
      html += Figure(data, labels, shown, kind);
    }
    return html.empty() ? "" : "<div class=\"photos\">\n" + html + "</div>\n";
  };
  return HtmlPage(
      "Predictions",
      CountTiles(counts) +
          HtmlCards(
              {{Title("Wrong", data.wrong.size(),
                      counts.labelled - counts.top_1, "the surest"),
                figures(data.wrong, {"wrong", "\u2717\u00a0"}), "wide"},
               {Title("Right", data.right.size(), counts.top_1, "any"),
                figures(data.right, {"right", "\u2713\u00a0"}), "wide"},
               {Title("Without a label", data.unlabelled.size(),
                      counts.images - counts.labelled, "any"),
                figures(data.unlabelled, {"", ""}), "wide"},
               {Title("Bad images", data.bad.size(), counts.bad, "the first"),
                BadTable(data), "wide"}}));
}

}  // namespace infeed

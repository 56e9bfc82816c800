#include "trainer/log/classes.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include <fmt/format.h>

#include "base/charts/html_page.h"
#include "base/charts/line_chart.h"
#include "base/charts/svg_parts.h"
#include "trainer/log/pictures.h"
#include "trainer/results/metrics.h"

namespace infeed {
namespace {

constexpr int kMaxNumbers = 50;       // classes of a matrix shown as numbers
constexpr int kMaxLevel = 8;          // most classes with horizontal names
constexpr std::size_t kMaxRows = 25;  // of the table of classes
constexpr double kDarkFrom = 0.6;     // from here on, letters are white

std::string NameOf(std::size_t label, const std::vector<std::string>& names) {
  return label < names.size() ? names[label] : std::to_string(label);
}

// The predictions for a class's images.
struct ClassRow {
  std::size_t label = 0;
  std::int64_t images = 0;
  std::int64_t right = 0;
  double accuracy = 0;
  std::size_t mistaken_for = 0;  // the most frequent wrong prediction
  std::int64_t mistaken = 0;     // how often
};

std::span<const std::int64_t> RowOf(const EvalResult& result,
                                    std::size_t label) {
  const auto classes = static_cast<std::size_t>(result.classes);
  return std::span(result.confusion).subspan(label * classes, classes);
}

// Classes that have images, the worst first.
std::vector<ClassRow> WorstFirst(const EvalResult& result) {
  const auto all = CountClasses(result.confusion, result.classes);
  std::vector<ClassRow> rows;
  for (std::size_t label = 0; label < all.size(); ++label) {
    const std::optional<double> accuracy = all[label].accuracy();
    if (!accuracy) {
      continue;
    }
    ClassRow row{.label = label,
                 .images = all[label].images,
                 .right = all[label].right,
                 .accuracy = *accuracy};
    const auto counts = RowOf(result, label);
    for (std::size_t predicted = 0; predicted < counts.size(); ++predicted) {
      if (predicted != label && counts[predicted] > row.mistaken) {
        row.mistaken_for = predicted;
        row.mistaken = counts[predicted];
      }
    }
    rows.push_back(row);
  }
  std::ranges::stable_sort(rows, {}, &ClassRow::accuracy);
  return rows;
}

std::string ClassTable(const EvalResult& result,
                       const std::vector<std::string>& names) {
  const std::vector<ClassRow> classes = WorstFirst(result);
  std::vector<std::vector<std::string>> rows;
  for (const ClassRow& row : classes) {
    if (rows.size() == kMaxRows) {
      break;
    }
    rows.push_back(
        {EscapeXml(NameOf(row.label, names)), std::to_string(row.images),
         std::to_string(row.right), fmt::format("{:.1f} %", 100 * row.accuracy),
         row.mistaken == 0
             ? "-"
             : fmt::format("{} ({})",
                           EscapeXml(NameOf(row.mistaken_for, names)),
                           row.mistaken)});
  }
  std::string note;
  if (classes.size() > rows.size()) {
    note = fmt::format("<p class=\"note\">the worst {} of {} classes</p>\n",
                       rows.size(), classes.size());
  }
  if (result.mean_class) {
    note += fmt::format(
        "<p class=\"note\">mean of the classes' accuracies: {:.1f} %</p>\n",
        100 * *result.mean_class);
  }
  return HtmlTable({"class", "images", "right", "accuracy",
                    "most often predicted as"},
                   rows) +
         note;
}

// A count on a background that is darker for a larger fraction of the row.
std::string Square(std::int64_t count, std::int64_t images) {
  const double share =
      images > 0
          ? std::sqrt(static_cast<double>(count) / static_cast<double>(images))
          : 0;
  return fmt::format(
      "<td{} style=\"background: rgba(59, 111, 212, {:.2f})\">{}</td>",
      share >= kDarkFrom ? " class=\"dark\"" : "", share, count);
}

bool IsWide(const EvalResult& result) { return result.classes > kMaxLevel; }

std::string NumbersMatrix(const EvalResult& result,
                          const std::vector<std::string>& names) {
  const auto classes = static_cast<std::size_t>(result.classes);
  std::string html =
      fmt::format("<table class=\"heat{}\">\n<tr><th>actual \\ predicted</th>",
                  IsWide(result) ? " upright" : "");
  for (std::size_t predicted = 0; predicted < classes; ++predicted) {
    html += "<th><span>" + EscapeXml(NameOf(predicted, names)) + "</span></th>";
  }
  html += "</tr>\n";
  const auto counts = CountClasses(result.confusion, result.classes);
  for (std::size_t label = 0; label < classes; ++label) {
    html += "<tr><td>" + EscapeXml(NameOf(label, names)) + "</td>";
    for (const std::int64_t count : RowOf(result, label)) {
      html += Square(count, counts[label].images);
    }
    html += "</tr>\n";
  }
  return html + "</table>\n";
}

std::string MatrixPicture(const EvalResult& result) {
  return "<img class=\"matrix\" alt=\"confusion matrix\" "
         "src=\"data:image/png;base64," +
         Base64(ConfusionPicture(result).png) +
         "\">\n<p class=\"note\">actual \\ predicted: a row for each actual "
         "class, a column for each predicted one; the darker, the larger the "
         "part of the row</p>\n";
}

std::string RocChart(const EvalResult& result) {
  if (result.roc.empty()) {
    return "";
  }
  std::vector<ChartPoint> points;
  for (const RocPoint& point : result.roc) {
    points.push_back(
        {.x = point.false_positive_rate, .y = point.true_positive_rate});
  }
  const std::string auc = result.auc
                              ? fmt::format(
                                    "<p class=\"note\">the area under it is "
                                    "{:.4f}</p>\n",
                                    *result.auc)
                              : "";
  return LineChart({{"this model", points}, {"chance", {{0, 0}, {1, 1}}}},
                   {.names = {.x = "false positives", .y = "true positives"},
                    .from_zero = true,
                    .whole_x = false}) +
         auc;
}

}  // namespace

ClassCards MakeClassCards(const EvalResult& result,
                          const std::vector<std::string>& names) {
  ClassCards cards;
  if (!result.confusion.empty()) {
    cards.confusion = result.classes <= kMaxNumbers
                          ? NumbersMatrix(result, names)
                          : MatrixPicture(result);
    cards.are_wide = IsWide(result);
    cards.table = ClassTable(result, names);
  }
  cards.roc = RocChart(result);
  return cards;
}

}  // namespace infeed

#pragma once

#include <string>
#include <string_view>

// What plots are put together from. Colours are the page's, by the CSS classes
// grid and tick.
namespace infeed {

// Units of a plot's width: it is stretched to its place in the page, and so is
// its text.
inline constexpr double kChartWidth = 640;

// The head of a drawing; "</svg>" ends it.
[[nodiscard]] std::string SvgOpen(double width, double height);

// anchor: "start", "middle" or "end".
[[nodiscard]] std::string SvgText(double x, double y, std::string_view anchor,
                                  std::string_view text);

// A line of the grid.
[[nodiscard]] std::string SvgLine(double x1, double y1, double x2, double y2);

// 1, 2 or 5 times a power of ten, the least that is not below `least`.
// Requires: least > 0.
[[nodiscard]] double NiceStep(double least);

// Text as HTML and SVG show it as it is.
[[nodiscard]] std::string EscapeXml(std::string_view text);

}  // namespace infeed

#pragma once

#include <string>
#include <string_view>

// Building blocks of SVG plots. The page's CSS sets the colours: classes grid
// and tick.
namespace infeed {

// A plot's width in SVG units. The page stretches the plot, including its text,
// to the space it has.
inline constexpr double kChartWidth = 640;

// The names of a plot's axes; empty: none.
struct AxisNames {
  std::string x = {};  // with its unit, as "width, pixels"
  std::string y = {};
};

// The room that a name takes beside an axis.
inline constexpr double kAxisName = 16;
[[nodiscard]] inline double NameRoom(std::string_view name) {
  return name.empty() ? 0 : kAxisName;
}

// The opening <svg> tag; the caller adds "</svg>" at the end.
[[nodiscard]] std::string SvgOpen(double width, double height);

// anchor: "start", "middle" or "end".
[[nodiscard]] std::string SvgText(double x, double y, std::string_view anchor,
                                  std::string_view text);

// The names of axes, around the middle of a plot's lower edge and of its left
// one. bottom: of the whole image.
[[nodiscard]] std::string SvgAxisNames(const AxisNames& names, double middle_x,
                                       double middle_y, double bottom);

// A grid line.
[[nodiscard]] std::string SvgLine(double x1, double y1, double x2, double y2);

// The smallest number >= `least` that is 1, 2 or 5 times a power of ten.
// Requires: least > 0.
[[nodiscard]] double NiceStep(double least);

// Escapes text so that HTML and SVG show it unchanged.
[[nodiscard]] std::string EscapeXml(std::string_view text);

}  // namespace infeed

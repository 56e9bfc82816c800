#include "base/charts/svg_parts.h"

#include <cmath>

#include <fmt/format.h>

namespace infeed {

std::string SvgOpen(double width, double height) {
  return fmt::format(
      "<svg viewBox=\"0 0 {:.0f} {:.0f}\" role=\"img\" "
      "xmlns=\"http://www.w3.org/2000/svg\">\n",
      width, height);
}

std::string SvgText(double x, double y, std::string_view anchor,
                    std::string_view text) {
  return fmt::format(
      "<text class=\"tick\" x=\"{:.1f}\" y=\"{:.1f}\" "
      "text-anchor=\"{}\">{}</text>\n",
      x, y, anchor, EscapeXml(text));
}

std::string SvgAxisNames(const AxisNames& names, double middle_x,
                         double middle_y, double bottom) {
  std::string svg;
  if (!names.x.empty()) {
    svg += SvgText(middle_x, bottom - 5, "middle", names.x);
  }
  if (!names.y.empty()) {
    svg += fmt::format(
        "<text class=\"tick\" transform=\"translate(11 {:.1f}) rotate(-90)\" "
        "text-anchor=\"middle\">{}</text>\n",
        middle_y, EscapeXml(names.y));
  }
  return svg;
}

std::string SvgLine(double x1, double y1, double x2, double y2) {
  return fmt::format(
      "<line class=\"grid\" x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" "
      "y2=\"{:.1f}\"/>\n",
      x1, y1, x2, y2);
}

double NiceStep(double least) {
  const double power = std::pow(10, std::floor(std::log10(least)));
  for (const double factor : {1.0, 2.0, 5.0}) {
    if (least <= factor * power) {
      return factor * power;
    }
  }
  return 10 * power;
}

std::string EscapeXml(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    switch (c) {
      case '&':
        escaped += "&amp;";
        break;
      case '<':
        escaped += "&lt;";
        break;
      case '>':
        escaped += "&gt;";
        break;
      case '"':
        escaped += "&quot;";
        break;
      default:  // XML does not allow control characters.
        escaped += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
    }
  }
  return escaped;
}

}  // namespace infeed

#include "tools/images/key_points.h"

#include <algorithm>
#include <cmath>

#include "base/count_text.h"
#include "base/error.h"
#include "base/shown_text.h"
#include "records/bytes/whole_number.h"

namespace infeed {
namespace {

constexpr std::int64_t kMostKeyPoints = 10000;
constexpr std::size_t kNumbersBeforePoints = 5;  // class, centre, width, height
// Annotators leave some points a little outside of the box.
constexpr double kMargin = 0.1;

// Whether a value is in a box's side, or near it.
bool IsIn(double value, double centre, double side) {
  return std::abs(value - centre) <= side * (0.5 + kMargin);
}

bool IsBoxInImage(std::span<const double> box) {
  constexpr double kRounding = 0.01;
  for (std::size_t i = 0; i < 2; ++i) {
    const double half = box[i + 2] / 2;
    if (!(half > 0 && box[i] - half >= -kRounding &&
          box[i] + half <= 1 + kRounding)) {
      return false;
    }
  }
  return true;
}

// each: 2, x and y, both 0 if the point is not in the image; or 3, with a
// visibility of 0, 1 or 2.
bool ArePoints(std::span<const double> numbers, std::span<const double> box,
               std::size_t each) {
  if (numbers.size() % each != 0) {
    return false;
  }
  for (; !numbers.empty(); numbers = numbers.subspan(each)) {
    const double sight =
        each == 3 ? numbers[2] : (numbers[0] == 0 && numbers[1] == 0 ? 0 : 1);
    const bool is_in =
        IsIn(numbers[0], box[0], box[2]) && IsIn(numbers[1], box[1], box[3]);
    if (sight != 0 && (!is_in || (sight != 1 && sight != 2))) {
      return false;
    }
  }
  return true;
}

}  // namespace

std::optional<std::size_t> KeyPointNumbersOf(std::int64_t points,
                                             std::int64_t each) {
  if (points < 1 || points > kMostKeyPoints || (each != 2 && each != 3)) {
    return std::nullopt;
  }
  return static_cast<std::size_t>(points * each);
}

std::size_t ParseKptShape(std::string_view text) {
  if (text == "none") {
    return 0;
  }
  const std::size_t comma = text.find(',');
  if (comma != std::string_view::npos) {
    const auto points = ParsePlainNumber<std::int64_t>(text.substr(0, comma));
    const auto each = ParsePlainNumber<std::int64_t>(text.substr(comma + 1));
    if (points && each) {
      if (const auto numbers = KeyPointNumbersOf(*points, *each)) {
        return *numbers;
      }
    }
  }
  throw UsageError("--kpt_shape " + ShownText(text) +
                   ": must be the number of key points and 2 or 3, such as "
                   "17,3, or none");
}

void KeyPointSigns::Add(std::span<const double> numbers) {
  differ_ = differ_ || (count_ != 0 && count_ != numbers.size());
  count_ = numbers.size();
  ++lines_;
  if (numbers.size() > kNumbersBeforePoints) {
    const std::span<const double> box =
        numbers.subspan(1, kNumbersBeforePoints - 1);
    const std::span<const double> rest = numbers.subspan(kNumbersBeforePoints);
    fitting_ += IsBoxInImage(box) &&
                        (ArePoints(rest, box, 2) || ArePoints(rest, box, 3))
                    ? 1
                    : 0;
  }
}

void KeyPointSigns::Add(const KeyPointSigns& other) {
  differ_ = differ_ || other.differ_ ||
            (count_ != 0 && other.count_ != 0 && count_ != other.count_);
  count_ = std::max(count_, other.count_);
  lines_ += other.lines_;
  fitting_ += other.fitting_;
}

bool KeyPointSigns::AreFound() const {
  return !differ_ && count_ > kNumbersBeforePoints &&
         10 * fitting_ >= 9 * lines_;
}

std::string KeyPointSigns::Text() const {
  return (lines_ == 1 ? "the only line has "
                      : "all " + std::to_string(lines_) + " lines have ") +
         std::to_string(count_) + " numbers";
}

}  // namespace infeed

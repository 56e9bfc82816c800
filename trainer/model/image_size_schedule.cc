#include "trainer/model/image_size_schedule.h"

#include <algorithm>
#include <string_view>

#include "base/error.h"
#include "records/bytes/whole_number.h"

namespace infeed {
namespace {

constexpr int kMaxSize = 8192;
constexpr std::uint32_t kMaxEpoch = 1'000'000'000;

[[noreturn]] void Refuse(const std::string& text, const std::string& why) {
  throw UsageError("image_size_schedule='" + text + "': " + why +
                   "; give EPOCH:SIZE pairs, as '0:160,30:192,60:224'");
}

}  // namespace

ImageSizeSchedule::ImageSizeSchedule(const std::string& text,
                                     const ImageSize& image_size)
    : sizes_{{0, image_size}} {
  std::optional<std::uint32_t> last;
  std::string_view rest = text;
  while (!rest.empty()) {
    const std::string_view pair = rest.substr(0, rest.find(','));
    rest.remove_prefix(std::min(rest.size(), pair.size() + 1));
    const std::size_t colon = pair.find(':');
    if (colon == std::string_view::npos) {
      Refuse(text, "'" + std::string(pair) + "' has no colon");
    }
    const auto epoch = ParseWholeNumber<std::uint32_t>(pair.substr(0, colon));
    const auto size = ParseImageSize(pair.substr(colon + 1));
    if (!epoch || *epoch > kMaxEpoch || !size || size->longer() > kMaxSize) {
      Refuse(text, "'" + std::string(pair) +
                       "' is not an epoch and a size of 1 to 8192 pixels");
    }
    if (last && *epoch <= *last) {
      Refuse(text, "the epochs do not rise");
    }
    last = epoch;
    sizes_[*epoch] = *size;
  }
}

std::optional<std::uint32_t> ImageSizeSchedule::NextChange(
    std::uint32_t epoch) const {
  const ImageSize& size = SizeAt(epoch);
  const auto found =
      std::find_if(sizes_.upper_bound(epoch), sizes_.end(),
                   [&](const auto& entry) { return entry.second != size; });
  return found == sizes_.end() ? std::nullopt : std::optional(found->first);
}

const ImageSize& ImageSizeSchedule::largest() const {
  return std::max_element(sizes_.begin(), sizes_.end(),
                          [](const auto& a, const auto& b) {
                            return a.second.pixels() < b.second.pixels();
                          })
      ->second;
}

}  // namespace infeed

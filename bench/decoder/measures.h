#pragma once

#include <array>
#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bench/common/in_turns.h"
#include "bench/decoder/speed_table.h"
#include "preprocess/jpeg_entropy/seek_index.h"
#include "preprocess/pixels/image.h"

namespace infeed {

struct DecodeMeasureOptions {
  int epochs = 4;  // training windows of each image; > 0
  int repetitions = 5;
  // Called with what is being measured and the fraction done, 0..1.
  std::function<void(std::string_view, double)> progress = [](std::string_view,
                                                              double) {};
};

// Measures every step from a JPEG to a packed slot in comparison with
// libjpeg-turbo and OpenCV, on the calling thread, and adds the results to a
// report.
class DecodeMeasures {
 public:
  // JPEGs that libjpeg-turbo rejects are skipped. Throws UsageError when none
  // is left.
  DecodeMeasures(const std::vector<std::string>& jpegs,
                 const DecodeMeasureOptions& options);

  [[nodiscard]] int images() const { return static_cast<int>(images_.size()); }

  void AddWholeDecodes(SpeedReport& report) const;
  void AddWindowDecodes(SpeedReport& report) const;
  void AddIndexes(SpeedReport& report) const;
  void AddResizes(SpeedReport& report) const;
  void AddRecipes(SpeedReport& report) const;

 private:
  static constexpr std::array<int, 3> kRuns = {0, 8, 4};  // of the indexes

  struct Image {
    std::string jpeg;
    std::string record = {};          // an Example with the JPEG
    std::string indexed_record = {};  // the same with a row index
    Window whole = {};
    std::vector<Window> windows = {};  // one per epoch
    // By kRuns; none if the JPEG cannot have an index.
    std::array<std::optional<JpegSeekIndex>, 3> indexes = {};
  };
  // A window of one of the images.
  struct Task {
    const Image* image;
    int epoch;
    std::size_t number;  // of the image

    [[nodiscard]] const Window& window() const {
      return image->windows[static_cast<std::size_t>(epoch)];
    }
  };

  [[nodiscard]] std::vector<TaskTimes> Measure(
      std::string_view what, std::size_t tasks,
      const std::vector<Contender>& contenders,
      const std::function<void(std::size_t)>& prepare = [](std::size_t) {
      }) const;
  [[nodiscard]] Task TaskAt(std::size_t i) const {
    return {&images_[i / windows_each()], static_cast<int>(i % windows_each()),
            i / windows_each()};
  }
  [[nodiscard]] std::size_t windows_each() const {
    return static_cast<std::size_t>(options_.epochs);
  }

  DecodeMeasureOptions options_;
  std::vector<Image> images_;
};

}  // namespace infeed

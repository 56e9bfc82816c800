#include "base/charts/progress.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "base/seconds.h"

namespace infeed {
namespace {

constexpr std::chrono::milliseconds kTerminalInterval(200);
constexpr std::chrono::milliseconds kLogInterval(5000);
constexpr std::size_t kDefaultColumns = 80;

std::size_t ReadColumns(std::FILE* out) {
  struct winsize size {};
  const bool known = ::ioctl(::fileno(out), TIOCGWINSZ, &size) == 0;
  return known && size.ws_col > 1 ? size.ws_col : kDefaultColumns;
}

// Write errors are ignored: a closed terminal must not stop the program.
void Show(std::FILE* out, const std::string& text) {
  if (std::fwrite(text.data(), 1, text.size(), out) == text.size()) {
    std::fflush(out);
  }
}

}  // namespace

std::string ShortDuration(double seconds) {
  // A century or more, or NaN, is not a useful forecast.
  if (!(seconds < 3.2e9)) {
    return "?";
  }
  const std::int64_t whole = std::max<std::int64_t>(0, std::llround(seconds));
  if (whole >= 3600) {
    return fmt::format("{}h{:02}m", whole / 3600, whole / 60 % 60);
  }
  if (whole >= 60) {
    return fmt::format("{}m{:02}s", whole / 60, whole % 60);
  }
  return fmt::format("{}s", whole);
}

std::string ProgressText(const ProgressState& state) {
  std::string text = fmt::format(
      "step {}/{}  loss {:.3f}  top-1 {:.1f} %  lr {:.4g}", state.step,
      state.total_steps, state.loss, 100 * state.top_1, state.learning_rate);
  if (state.images_per_second > 0) {
    text += fmt::format("{}  {:.1f} images/s  input wait {:.1f} %",
                        state.warm_up ? "  warm-up" : "",
                        state.images_per_second, 100 * state.input_wait);
  }
  if (state.seconds_left) {
    text += "  ETA " + ShortDuration(*state.seconds_left);
  }
  return text;
}

std::string FittedLine(std::string_view line, std::size_t columns) {
  if (line.size() <= columns) {
    return std::string(line);
  }
  const std::size_t place = std::min(line.rfind("  ETA "), line.size());
  const std::string_view eta = line.substr(place);
  const std::size_t room = columns - std::min(columns, eta.size());
  std::string_view rest = line.substr(0, place);
  while (rest.size() > room && rest.find("  ") != std::string_view::npos) {
    rest = rest.substr(0, rest.rfind("  "));
  }
  return std::string(rest.substr(0, room)).append(eta).substr(0, columns);
}

ProgressLine::ProgressLine(std::FILE* out,
                           std::function<Clock::time_point()> now)
    : out_(out),
      now_(std::move(now)),
      start_(now_()),
      terminal_(::isatty(::fileno(out)) != 0) {}

bool ProgressLine::IsDue() const {
  return !last_ ||
         now_() - *last_ >= (terminal_ ? kTerminalInterval : kLogInterval);
}

double ProgressLine::seconds() const { return ToSeconds(now_() - start_); }

void ProgressLine::Update(std::string_view text, bool force) {
  if (!force && !IsDue()) {
    return;
  }
  last_ = now_();
  if (terminal_) {
    // The last column stays free: some terminals wrap once it is written.
    // Back to the first column, the text, and the rest of the line cleared.
    Show(out_,
         fmt::format("\r{}\x1b[K", FittedLine(text, ReadColumns(out_) - 1)));
    open_ = true;
  } else {
    Show(out_, fmt::format("{}\n", text));
  }
}

void ProgressLine::Erase() {
  if (std::exchange(open_, false)) {
    Show(out_, "\r\x1b[K");
  }
}

void ProgressLine::Finish() {
  if (std::exchange(open_, false)) {
    Show(out_, "\n");
  }
}

}  // namespace infeed

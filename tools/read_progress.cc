#include "tools/read_progress.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iostream>
#include <string_view>

#include <fmt/format.h>

namespace infeed {
namespace {

constexpr std::chrono::milliseconds kTerminalInterval(200);
constexpr std::chrono::seconds kLogInterval(10);
constexpr std::string_view kClearLine = "\r\x1b[K";

struct Unit {
  double bytes;
  std::string_view name;
};

// The largest unit of which there is at least one.
Unit UnitFor(double bytes) {
  constexpr std::array<Unit, 3> kUnits = {
      {{1e9, "GB"}, {1e6, "MB"}, {1e3, "kB"}}};
  for (const Unit& unit : kUnits) {
    if (bytes >= unit.bytes) {
      return unit;
    }
  }
  return {1, "B"};
}

std::string DurationText(double seconds) {
  const auto whole = static_cast<std::int64_t>(std::ceil(seconds));
  if (whole < 60) {
    return fmt::format("{} s", whole);
  }
  if (whole < 3600) {
    return fmt::format("{} min {:02} s", whole / 60, whole % 60);
  }
  return fmt::format("{} h {:02} min", whole / 3600, whole / 60 % 60);
}

}  // namespace

std::string ReadProgressText(const ReadProgressState& state) {
  const auto bytes = static_cast<double>(state.bytes);
  const auto total = static_cast<double>(state.total_bytes);
  const Unit unit = UnitFor(total);
  const double done = total > 0 ? bytes / total : 1;
  std::string text =
      fmt::format("{:.1f} of {:.1f} {} ({:.0f} %)", bytes / unit.bytes,
                  total / unit.bytes, unit.name, std::floor(done * 100));
  if (state.seconds > 0 && bytes > 0) {
    const double rate = bytes / state.seconds;
    const Unit rate_unit = UnitFor(rate);
    text += fmt::format(", {:.1f} {}/s, {} records, {} left",
                        rate / rate_unit.bytes, rate_unit.name, state.records,
                        DurationText(std::max(0.0, (total - bytes) / rate)));
  }
  return text;
}

ReadProgress::ReadProgress(std::int64_t total_bytes)
    : terminal_(::isatty(STDERR_FILENO) == 1),
      state_{.total_bytes = total_bytes},
      next_show_(start_ + kTerminalInterval) {
  if (!terminal_) {
    next_show_ = start_ + kLogInterval;
  }
}

ReadProgress::~ReadProgress() {
  if (terminal_ && shown_) {
    std::cerr << kClearLine << std::flush;
  }
}

void ReadProgress::Add(std::int64_t bytes, std::int64_t records) {
  const std::lock_guard lock(mutex_);
  state_.bytes += bytes;
  state_.records += records;
  const Clock::time_point now = Clock::now();
  if (now < next_show_) {
    return;
  }
  state_.seconds = std::chrono::duration<double>(now - start_).count();
  const std::string text = ReadProgressText(state_);
  if (terminal_) {
    std::cerr << kClearLine << text << std::flush;
    next_show_ = now + kTerminalInterval;
  } else {
    std::cerr << text << std::endl;
    next_show_ = now + kLogInterval;
  }
  shown_ = true;
}

}  // namespace infeed

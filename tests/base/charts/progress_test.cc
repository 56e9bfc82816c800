#include "base/charts/progress.h"

#include <fcntl.h>
#include <pty.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <limits>
#include <memory>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"

namespace infeed {
namespace {

using std::chrono_literals::operator""ms;
using File = std::unique_ptr<std::FILE, int (*)(std::FILE*)>;

TEST(ShortDurationTest, HasTwoUnitsAtMost) {
  EXPECT_EQ(ShortDuration(5.4), "5s");
  EXPECT_EQ(ShortDuration(59.6), "1m00s");
  EXPECT_EQ(ShortDuration(62), "1m02s");
  EXPECT_EQ(ShortDuration(7380), "2h03m");
  EXPECT_EQ(ShortDuration(360'000), "100h00m");
  EXPECT_EQ(ShortDuration(-1), "0s");
  EXPECT_EQ(ShortDuration(std::numeric_limits<double>::infinity()), "?");
  EXPECT_EQ(ShortDuration(std::numeric_limits<double>::quiet_NaN()), "?");
}

TEST(ProgressTextTest, ShowsAllThatIsKnown) {
  EXPECT_EQ(ProgressText({.step = 120,
                          .total_steps = 500,
                          .loss = 1.2341,
                          .top_1 = 0.453,
                          .learning_rate = 0.1,
                          .images_per_second = 65.21,
                          .input_wait = 0.005,
                          .seconds_left = 190}),
            "step 120/500  loss 1.234  top-1 45.3 %  lr 0.1  65.2 images/s  "
            "input wait 0.5 %  ETA 3m10s");
  EXPECT_EQ(ProgressText({.step = 1,
                          .total_steps = 5,
                          .images_per_second = 4,
                          .warm_up = true}),
            "step 1/5  loss 0.000  top-1 0.0 %  lr 0  warm-up  4.0 images/s  "
            "input wait 0.0 %");
  EXPECT_EQ(ProgressText({.step = 0, .total_steps = 5}),
            "step 0/5  loss 0.000  top-1 0.0 %  lr 0");
}

TEST(FittedLineTest, KeepsTheEta) {
  const std::string line =
      "step 120/500  loss 1.234  top-1 45.3 %  lr 0.1  65.2 images/s  "
      "input wait 0.5 %  ETA 3m10s";
  EXPECT_EQ(FittedLine(line, line.size()), line);
  EXPECT_EQ(FittedLine(line, line.size() - 1),
            "step 120/500  loss 1.234  top-1 45.3 %  lr 0.1  65.2 images/s  "
            "ETA 3m10s");
  EXPECT_EQ(FittedLine(line, 59),
            "step 120/500  loss 1.234  top-1 45.3 %  lr 0.1  ETA 3m10s");
  EXPECT_EQ(FittedLine(line, 30), "step 120/500  ETA 3m10s");
  EXPECT_EQ(FittedLine(line, 20), "step 120/  ETA 3m10s");
  EXPECT_EQ(FittedLine(line, 5), "  ETA");
  // The last parts, where there is no ETA.
  EXPECT_EQ(FittedLine("step 1/5  loss 0.000  top-1 0.0 %", 25),
            "step 1/5  loss 0.000");
  EXPECT_EQ(FittedLine("decode: 12 %", 6), "decode");
}

// A clock that stands until it is moved.
struct Clock {
  ProgressLine::Clock::time_point now;
  [[nodiscard]] std::function<ProgressLine::Clock::time_point()> Read() {
    return [this] { return now; };
  }
};

std::string ContentsOf(std::FILE* file) {
  std::string text(1000, '\0');
  std::rewind(file);
  text.resize(std::fread(text.data(), 1, text.size(), file));
  return text;
}

TEST(ProgressLineTest, WritesLinesFarApartToAFile) {
  const File file(std::tmpfile(), std::fclose);
  Clock clock;
  ProgressLine line(file.get(), clock.Read());
  line.Update("one");
  clock.now += 4999ms;
  line.Update("two");
  clock.now += 1ms;
  line.Update("three");
  line.Update("forced", true);
  line.Finish();
  EXPECT_EQ(ContentsOf(file.get()), "one\nthree\nforced\n");
}

TEST(ProgressLineTest, DelaysTheFirstLine) {
  const File file(std::tmpfile(), std::fclose);
  Clock clock;
  ProgressLine line(file.get(), clock.Read());
  line.Delay();
  clock.now += 4999ms;
  EXPECT_FALSE(line.IsDue());
  line.Update("one");
  clock.now += 1ms;
  EXPECT_TRUE(line.IsDue());
  line.Update("two");
  EXPECT_FALSE(line.IsDue());
  EXPECT_EQ(line.seconds(), 5);
  EXPECT_EQ(ContentsOf(file.get()), "two\n");
}

// A terminal of some columns, which nobody looks at.
class Terminal {
 public:
  explicit Terminal(unsigned short columns) {
    struct winsize size {};
    size.ws_col = columns;
    Check(::openpty(&reader_, &writer_, nullptr, nullptr, &size) == 0,
          "a terminal can be made");
    out_.reset(::fdopen(writer_, "w"));
  }
  ~Terminal() { ::close(reader_); }
  Terminal(const Terminal&) = delete;
  Terminal& operator=(const Terminal&) = delete;
  [[nodiscard]] std::FILE* out() { return out_.get(); }
  // The output so far. A mark is written behind it, since a read may return
  // only a part of it.
  [[nodiscard]] std::string Read() {
    constexpr char kMark = '$';
    std::fputc(kMark, out());
    std::fflush(out());
    std::string text;
    for (char next = 0; ::read(reader_, &next, 1) == 1 && next != kMark;) {
      text += next;
    }
    return text;
  }

 private:
  int reader_ = -1;
  int writer_ = -1;
  File out_{nullptr, std::fclose};
};

TEST(ProgressLineTest, RewritesALineOnATerminal) {
  Terminal terminal(80);
  Clock clock;
  ProgressLine line(terminal.out(), clock.Read());
  line.Update("one");
  clock.now += 199ms;
  line.Update("not yet");
  clock.now += 1ms;
  line.Update("two");
  line.Finish();
  line.Finish();
  EXPECT_EQ(terminal.Read(), "\rone\x1b[K\rtwo\x1b[K\r\n");
}

TEST(ProgressLineTest, KeepsTheEtaOnANarrowTerminal) {
  Terminal terminal(60);
  Clock clock;
  ProgressLine line(terminal.out(), clock.Read());
  line.Update(ProgressText({.step = 112'589,
                            .total_steps = 112'590,
                            .loss = 6.907,
                            .top_1 = 0.753,
                            .learning_rate = 0.3216,
                            .images_per_second = 13579.1,
                            .input_wait = 0.05,
                            .seconds_left = 36'000}));
  line.Erase();
  line.Erase();
  EXPECT_EQ(terminal.Read(),
            "\rstep 112589/112590  loss 6.907  top-1 75.3 %  ETA 10h00m"
            "\x1b[K\r\x1b[K");
  Terminal tiny(10);
  ProgressLine(tiny.out(), clock.Read()).Update("0123456789abcdef");
  EXPECT_EQ(tiny.Read(), "\r012345678\x1b[K");
}

}  // namespace
}  // namespace infeed

#include "tools/demo/shapes.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "base/error.h"
#include "tools/demo/motifs.h"

namespace infeed {
namespace {

static_assert(kDemoClasses == kMotifs);

// A colour; its channels are linear in 0..1 here, bytes only at the end.
struct Color {
  float r = 0;
  float g = 0;
  float b = 0;
};

Color Mix(Color a, Color b, float t) {
  return {a.r + (b.r - a.r) * t, a.g + (b.g - a.g) * t, a.b + (b.b - a.b) * t};
}

float Uniform(RandomSource& random, float low, float high) {
  return low + (high - low) * random.Real();
}

// Everything about a picture that is drawn once; pixels are computed from it.
class Scene {
 public:
  Scene(const Motif& motif, RandomSource& random)
      : motif_(motif),
        width_(72 + static_cast<int>(random.Below(89))),
        height_(std::clamp(static_cast<int>(static_cast<float>(width_) *
                                            Uniform(random, 0.75F, 1.34F)),
                           72, 160)),
        key_(random.Below(0xffffffffU)),
        turn_(Uniform(random, -0.12F, 0.12F)),
        light_(Uniform(random, 0, 2 * std::numbers::pi_v<float>)) {
    const auto shorter = static_cast<float>(std::min(width_, height_));
    half_cell_ = shorter * Uniform(random, 0.15F, 0.22F);
    origin_ = {Uniform(random, 0, 64), Uniform(random, 0, 64)};
    softness_ = Uniform(random, 0.7F, 1.6F);
    gradient_ = Uniform(random, 0, 0.35F);
    grain_ = Uniform(random, 0.01F, 0.04F);
    DrawColors(random);
    DrawBars(random);
  }

  [[nodiscard]] int width() const { return width_; }
  [[nodiscard]] int height() const { return height_; }

  // The colour seen at the middle of a pixel.
  [[nodiscard]] Color At(int x, int y) const {
    const Point pixel{static_cast<float>(x) + 0.5F,
                      static_cast<float>(y) + 0.5F};
    const Point p = turn_(pixel * (1 / half_cell_)) + origin_;
    const float coverage = Coverage(p);
    Color color = coverage < 1 ? Ground(pixel) : Color{};
    if (coverage > 0) {
      color = Mix(color, Figure(pixel), coverage);
    }
    for (const Bar& bar : bars_) {
      color = Mix(color, bar.color, BarCoverage(bar, pixel));
    }
    return Lit(color, pixel, x, y);
  }

 private:
  // A thin bar drawn over the picture.
  struct Bar {
    Point from;
    Point direction;  // of length 1
    float length = 0;
    float half_width = 0;
    Color color;
  };

  // Two colours for the ground and two for the figure. Which pair is brighter
  // is random, so brightness does not depend on the class.
  void DrawColors(RandomSource& random) {
    const bool dark_ground = random.Below(2) == 0;
    const float dark = Uniform(random, 0.08F, 0.3F);
    const float bright = Uniform(random, 0.6F, 0.9F);
    ground_ = DrawPair(random, dark_ground ? dark : bright);
    figure_ = DrawPair(random, dark_ground ? bright : dark);
    gray_ = random.Below(32) == 0;
  }

  static std::array<Color, 2> DrawPair(RandomSource& random, float brightness) {
    std::array<Color, 2> pair;
    for (Color& color : pair) {
      const float spread = 0.16F;
      color = {brightness + Uniform(random, -spread, spread),
               brightness + Uniform(random, -spread, spread),
               brightness + Uniform(random, -spread, spread)};
    }
    pair[1] = Mix(pair[0], pair[1], 0.5F);
    return pair;
  }

  void DrawBars(RandomSource& random) {
    for (Bar& bar : bars_) {
      const float angle = Uniform(random, 0, 2 * std::numbers::pi_v<float>);
      bar.from = {Uniform(random, 0, static_cast<float>(width_)),
                  Uniform(random, 0, static_cast<float>(height_))};
      bar.direction = {std::cos(angle), std::sin(angle)};
      bar.length = Uniform(random, 0, 0.5F) * static_cast<float>(width_);
      bar.half_width = Uniform(random, 0.4F, 1.8F);
      bar.color = {random.Real(), random.Real(), random.Real()};
    }
  }

  // The fraction of a pixel that the figure covers; softness_ blurs its edge.
  [[nodiscard]] float Coverage(Point p) const {
    const float distance =
        motif_.is_texture ? motif_.distance(Wavy(p), key_) : NearestMotif(p);
    return std::clamp(0.5F - distance * half_cell_ / (2 * softness_), 0.0F,
                      1.0F);
  }

  // Bends textures slightly, like cloth.
  [[nodiscard]] Point Wavy(Point p) const {
    const float bend = 0.18F;
    return p + Point{(SmoothNoise(p * 0.5F, key_ + 1) - 0.5F) * bend,
                     (SmoothNoise(p * 0.5F, key_ + 2) - 0.5F) * bend};
  }

  // Motifs sit in the cells of a grid, each slightly turned, shifted and scaled
  // within its cell, so that only one cell has to be examined.
  [[nodiscard]] float NearestMotif(Point p) const {
    const std::int32_t x = FloorToInt(p.x / 2);
    const std::int32_t y = FloorToInt(p.y / 2);
    const float scale = 0.9F + 0.12F * PlaceNoise(x, y, key_ + 3);
    const float room = 1.04F - scale;
    const Point middle{static_cast<float>(2 * x + 1) +
                           room * (2 * PlaceNoise(x, y, key_ + 4) - 1),
                       static_cast<float>(2 * y + 1) +
                           room * (2 * PlaceNoise(x, y, key_ + 5) - 1)};
    const Rotation turn(0.2F * PlaceNoise(x, y, key_ + 6) - 0.1F);
    return motif_.distance(turn((p - middle) * (1 / scale)), key_) * scale;
  }

  [[nodiscard]] Color Ground(Point pixel) const {
    const float coarse = SmoothNoise(pixel * 0.05F, key_ + 7);
    const float fine = SmoothNoise(pixel * 0.21F, key_ + 8);
    return Mix(ground_[0], ground_[1], 0.7F * coarse + 0.3F * fine);
  }

  [[nodiscard]] Color Figure(Point pixel) const {
    return Mix(figure_[0], figure_[1], SmoothNoise(pixel * 0.09F, key_ + 9));
  }

  [[nodiscard]] float BarCoverage(const Bar& bar, Point pixel) const {
    const Point to = pixel - bar.from;
    const float along = std::clamp(
        to.x * bar.direction.x + to.y * bar.direction.y, 0.0F, bar.length);
    const float away = Length(to - bar.direction * along) - bar.half_width;
    return std::clamp(0.5F - away / (2 * softness_), 0.0F, 1.0F);
  }

  // Adds light from one side, darker corners and film grain.
  [[nodiscard]] Color Lit(Color color, Point pixel, int x, int y) const {
    const Point centred{pixel.x / static_cast<float>(width_) - 0.5F,
                        pixel.y / static_cast<float>(height_) - 0.5F};
    const float side = light_(centred).x * gradient_;
    const float corner = 0.3F * (centred.x * centred.x + centred.y * centred.y);
    const float light = 1 + side - corner;
    const float grain = grain_ * (PlaceNoise(x, y, key_ + 10) +
                                  PlaceNoise(x, y, key_ + 11) - 1);
    color = {color.r * light + grain, color.g * light + grain,
             color.b * light + grain};
    if (gray_) {
      const float luma = 0.299F * color.r + 0.587F * color.g + 0.114F * color.b;
      return {luma, luma, luma};
    }
    return color;
  }

  const Motif& motif_;
  int width_;
  int height_;
  std::uint32_t key_;    // for all hashes of places
  Rotation turn_;        // of the grid or texture, slight
  Rotation light_;       // where the light comes from
  float half_cell_ = 1;  // pixels
  Point origin_;
  float softness_ = 1;  // of edges, pixels
  float gradient_ = 0;
  float grain_ = 0;
  bool gray_ = false;
  std::array<Color, 2> ground_;
  std::array<Color, 2> figure_;
  std::array<Bar, 1> bars_;
};

std::uint8_t ToByte(float value) {
  return static_cast<std::uint8_t>(
      std::clamp(value * 255.0F + 0.5F, 0.0F, 255.0F));
}

}  // namespace

std::string_view DemoClassName(int demo_class) {
  return MotifAt(demo_class).name;
}

void DrawDemoImage(int demo_class, RandomSource& random, RgbImage& image) {
  Check(demo_class >= 0 && demo_class < kDemoClasses, "a demo class is 0..9");
  const Scene scene(MotifAt(demo_class), random);
  image.Resize(scene.width(), scene.height());
  for (int y = 0; y < scene.height(); ++y) {
    std::uint8_t* pixel = image.row(y);
    for (int x = 0; x < scene.width(); ++x, pixel += 3) {
      const Color color = scene.At(x, y);
      pixel[0] = ToByte(color.r);
      pixel[1] = ToByte(color.g);
      pixel[2] = ToByte(color.b);
    }
  }
}

}  // namespace infeed

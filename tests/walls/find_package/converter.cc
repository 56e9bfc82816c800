// Converts a folder of images to shards. usage: converter IMAGES SHARDS

#include <cstdint>
#include <iostream>

#include <infeed/records/store/image_tree.h>
#include <infeed/tools/convert/converter.h>

int main(int argc, char** argv) {
  if (argc != 3) {
    return 2;
  }
  const infeed::ConversionPlan plan =
      infeed::PlanConversion(infeed::FindImages(argv[1]), {.shards = 2});
  std::int64_t done = 0;
  const infeed::ConversionReport report = infeed::Convert(
      plan, argv[2], {},
      [&](const infeed::ConversionProgress& now) { done = now.done; });
  std::cout << "converter: " << done << " images in " << plan.shards()
            << " shards\n";
  return done == plan.images() && report.skipped.empty() ? 0 : 1;
}

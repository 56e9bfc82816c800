// A trainer on the input engine alone: softmax regression on packed pixels.
// usage: softmax_regression SHARDS

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <iostream>
#include <numeric>
#include <string>
#include <vector>

#include <infeed/pipeline/engine/input_pipeline.h>
#include <infeed/records/files/shards.h>

#include "features.h"

namespace {

using features::Numbers;
using Model = std::vector<Numbers>;  // a row of weights for each class

// The probability of each class.
Numbers Predict(const Model& model, const Numbers& image) {
  Numbers says;
  for (const Numbers& row : model) {
    says.push_back(std::exp(
        std::inner_product(image.begin(), image.end(), row.begin(), 0.0F)));
  }
  const float sum = std::accumulate(says.begin(), says.end(), 0.0F);
  std::ranges::transform(says, says.begin(), [&](float s) { return s / sum; });
  return says;
}

// Goes through a split and prints the model's loss and accuracy in each epoch.
// rate: of the gradient descent, image by image; 0 learns nothing.
void Run(const std::string& folder, const std::string& split, int epochs,
         float rate, Model& model) {
  const infeed::RecordIndex index(infeed::FindSplit(folder, split));
  infeed::InputPipeline input(
      index,
      {.batch_size = 50,
       .preprocess = {.recipe = infeed::Recipe::kPlain, .image_size = 32},
       .training = rate > 0,
       .repeat = epochs,
       .seed = 1});
  double loss = 0;
  double images = 0;
  double right = 0;
  for (std::int64_t batches = 1; const auto batch = input.Next(); ++batches) {
    for (int slot = 0; slot < batch->size(); ++slot) {
      if (batch->weights()[slot] == 0) {
        continue;  // A slot that pads the last batch.
      }
      const auto label = static_cast<std::size_t>(batch->labels()[slot]);
      const Numbers image = features::Of(batch->slot_pixels(slot), 32);
      model.resize(std::max(model.size(), label + 1), Numbers(image.size()));
      const Numbers says = Predict(model, image);
      for (std::size_t k = 0; k < model.size(); ++k) {
        const float step = rate * ((k == label ? 1.0F : 0.0F) - says[k]);
        for (std::size_t i = 0; i < image.size(); ++i) {
          model[k][i] += step * image[i];
        }
      }
      loss -= std::log(says[label]);
      right += says[label] == *std::ranges::max_element(says) ? 1 : 0;
      ++images;
    }
    if (batches % input.batches_per_epoch() == 0) {
      std::cout << split << ": loss " << loss / images << ", "
                << 100 * right / images << " % of " << images << " right\n";
      loss = images = right = 0;
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  try {
    Model model;
    Run(argc > 1 ? argv[1] : ".", "train", 8, 0.01F, model);
    Run(argc > 1 ? argv[1] : ".", "validation", 1, 0, model);
    return 0;
  } catch (const std::exception& error) {
    std::cerr << "softmax_regression: " << error.what() << "\n";
    return 1;
  }
}

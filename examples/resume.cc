// A stream that ends anywhere and goes on elsewhere: the same batches.
// usage: resume SHARDS

#include <cstdint>
#include <exception>
#include <fstream>
#include <iostream>
#include <iterator>
#include <string>
#include <vector>

#include <infeed/pipeline/engine/input_pipeline.h>
#include <infeed/pipeline/order/stream_state.h>
#include <infeed/records/files/shards.h>

namespace {

using Words = std::vector<std::uint32_t>;

// Random crops and flips of a shuffled epoch; they do not depend on threads.
infeed::InputOptions OptionsOf(int threads) {
  return {.batch_size = 32,
          .preprocess = {.image_size = 64},
          .seed = 7,
          .threads = threads};
}

Words Take(infeed::InputPipeline& input, int batches) {
  Words words;
  for (int i = 0; i < batches; ++i) {
    const infeed::BatchHandle batch = input.Next();
    words.insert(words.end(), batch->pixels().begin(), batch->pixels().end());
  }
  return words;
}

bool IsSame(const std::string& shards, const std::string& state_file) {
  const infeed::RecordIndex index(infeed::FindSplit(shards, "train"));
  infeed::InputPipeline whole(index, OptionsOf(1));
  const Words first = Take(whole, 20);
  std::ofstream(state_file) << whole.State();
  const Words second = Take(whole, 20);

  std::ifstream file(state_file);
  const std::string state(std::istreambuf_iterator<char>(file), {});
  std::cout << state;
  infeed::InputPipeline rest(
      index, OptionsOf(2), infeed::ResumePosition(state, index, OptionsOf(2)));
  return Take(rest, 20) == second && first != second;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    const bool same = IsSame(argc > 1 ? argv[1] : ".", "stream.json");
    std::cout << (same ? "the same" : "other") << " batches\n";
    return same ? 0 : 1;
  } catch (const std::exception& error) {
    std::cerr << "resume: " << error.what() << "\n";
    return 1;
  }
}

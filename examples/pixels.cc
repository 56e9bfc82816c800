// The pixels that an evaluation uses, for comparison with another program's: of
// each, SIZE x SIZE pixels as bytes R G B, in order. usage: pixels RECIPE SIZE
// INPUT OUT
//   INPUT: a folder of shards, or a text file with the path of an image a line

#include <cstdint>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <string>
#include <utility>
#include <vector>

#include <infeed/pipeline/engine/input_pipeline.h>
#include <infeed/records/files/shards.h>

namespace {

infeed::RecordIndex IndexOf(const std::string& input) {
  if (std::filesystem::is_directory(input)) {
    return infeed::RecordIndex(infeed::ListShards(input));
  }
  std::vector<infeed::LabelledImage> files;
  std::ifstream lines(input);
  for (std::string path; std::getline(lines, path);) {
    files.push_back({.path = path});
  }
  return infeed::RecordIndex::OfImages(std::move(files));
}

void Write(const infeed::RecordIndex& index, const std::string& recipe,
           int size, std::ostream& out) {
  infeed::InputPipeline input(
      index, {.batch_size = 1,
              .preprocess = {.recipe = infeed::ParseChoice("recipe", recipe,
                                                           infeed::kRecipes),
                             .image_size = size},
              .training = false,
              .shuffle = infeed::Shuffle::kNone,
              .on_bad_record = infeed::OnBadRecord::kFail,
              .require_labels = false});
  while (const infeed::BatchHandle batch = input.Next()) {
    for (const std::uint32_t word : batch->pixels()) {
      out.put(static_cast<char>(word >> 24));
      out.put(static_cast<char>(word >> 16));
      out.put(static_cast<char>(word >> 8));
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 5) {
    std::cerr << "usage: pixels RECIPE SIZE INPUT OUT\n";
    return 2;
  }
  try {
    std::ofstream out(argv[4], std::ios::binary);
    out.exceptions(std::ios::failbit | std::ios::badbit);
    Write(IndexOf(argv[3]), argv[1], std::stoi(argv[2]), out);
    return 0;
  } catch (const std::exception& error) {
    std::cerr << "pixels: " << error.what() << "\n";
    return 1;
  }
}

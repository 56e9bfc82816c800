// The shortest loop: every batch of an epoch of DATA (shards, class folders of
// images, tars, a zip), as a training gets it. usage: loop DATA

#include <cstdio>
#include <exception>

#include <infeed/pipeline/engine/input_pipeline.h>
#include <infeed/records/store/index_data.h>

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fputs("usage: loop DATA\n", stderr);
    return 2;
  }
  try {
    const infeed::RecordIndex index = infeed::IndexData(argv[1]);
    infeed::InputPipeline input(index, {.batch_size = 32, .repeat = 1});
    while (const infeed::BatchHandle batch = input.Next()) {
      std::printf("%d images, the first of class %d\n", batch->size(),
                  batch->labels()[0]);
    }
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "loop: %s\n", error.what());
    return 1;
  }
}

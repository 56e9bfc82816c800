// save_checkpoint MODEL_DIR STEP: saves a made checkpoint and keeps two.
#include <cstdio>

#include "base/error.h"
#include "tests/support/made_checkpoint.h"
#include "trainer/checkpoint/save.h"

int main(int argc, char** argv) {
  infeed::Check(argc == 3, "a folder and a step are given");
  try {
    infeed::SaveCheckpoint(argv[1], infeed::MadeCheckpoint(std::atoll(argv[2])),
                           {.last = 2});
  } catch (const infeed::IoError& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
  return 0;
}

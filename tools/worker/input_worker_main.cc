#include "tools/cli/flags.h"
#include "tools/worker/input_worker.h"

int main(int argc, char** argv) {
  return infeed::RunMain(argc, argv, infeed::InputWorker);
}

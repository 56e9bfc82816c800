#include "bench/engine/pipeline_throughput.h"
#include "tools/cli/flags.h"

int main(int argc, char** argv) {
  return infeed::RunMain(argc, argv, infeed::PipelineThroughput);
}

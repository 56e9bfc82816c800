#include "tools/cli/flags.h"
#include "tools/records/records.h"

int main(int argc, char** argv) {
  return infeed::RunMain(argc, argv, infeed::Records);
}

#include "tools/cli/flags.h"
#include "tools/convert/imagenet_to_records.h"

int main(int argc, char** argv) {
  return infeed::RunMain(argc, argv, infeed::ImagenetToRecords);
}

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <string>

#include "base/atomic_file.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data,
                                      std::size_t size);

// Stands in for libFuzzer's main where the compiler has none: runs the target
// on every file of the folders it is given. Options are libFuzzer's; ignored.
int main(int argc, char** argv) {
  int files = 0;
  for (int i = 1; i < argc; ++i) {
    if (argv[i][0] == '-') {
      continue;
    }
    for (const auto& entry : std::filesystem::directory_iterator(argv[i])) {
      const std::string bytes =
          infeed::ReadWholeFile(entry.path().string(), 1 << 24);
      LLVMFuzzerTestOneInput(
          reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
      ++files;
    }
  }
  std::printf("%d files replayed\n", files);
  return files > 0 ? 0 : 1;
}

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <string>
#include <vector>

#include "base/atomic_file.h"

// Runs a fuzz target on files, and on those in folders, without libFuzzer: its
// corpus as an ordinary test.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data,
                                      std::size_t size);

namespace {

constexpr std::int64_t kMaxBytes = 1 << 20;

std::vector<std::string> InputsOf(const std::string& path) {
  std::vector<std::string> inputs;
  if (!std::filesystem::is_directory(path)) {
    inputs.push_back(path);
    return inputs;
  }
  for (const auto& entry : std::filesystem::directory_iterator(path)) {
    inputs.push_back(entry.path().string());
  }
  std::sort(inputs.begin(), inputs.end());
  return inputs;
}

}  // namespace

int main(int argc, char** argv) {
  std::size_t count = 0;
  for (int i = 1; i < argc; ++i) {
    for (const std::string& input : InputsOf(argv[i])) {
      const std::string bytes = infeed::ReadWholeFile(input, kMaxBytes);
      std::printf("%s\n", input.c_str());
      std::fflush(stdout);  // The last name is the one that crashed.
      (void)LLVMFuzzerTestOneInput(
          reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
      ++count;
    }
  }
  std::printf("replayed %zu inputs\n", count);
  return count > 0 ? 0 : 1;
}

// The libraries of PyTorch's wheels export functions of libstdc++ that crash
// when they are called; cmake/torch.cmake chooses the ones that a program uses.
#include <dlfcn.h>

#include <cstdint>
#include <filesystem>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace infeed::standard_library_test {

namespace fs = std::filesystem;

TEST(StandardLibraryTest, LibTorchsCopiesAreNotUsed) {
  std::uintmax_t (*const remove_all)(const fs::path&) = &fs::remove_all;
  Dl_info found = {};
  ASSERT_NE(::dladdr(reinterpret_cast<const void*>(remove_all), &found), 0);
  EXPECT_THAT(found.dli_fname, testing::HasSubstr("libstdc++"));
}

}  // namespace infeed::standard_library_test

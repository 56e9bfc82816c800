#pragma once

#include <exception>
#include <functional>
#include <string>

// Converts LibTorch's exceptions where they leave the code that uses it.
namespace infeed {

// The message of an error, in one line and without LibTorch's stack frames.
[[nodiscard]] std::string ErrorText(const std::exception& error);

// Makes the message for memory that ran out. requested: "3211 MiB more" where
// the error has the number, else "more".
using OutOfMemoryText =
    std::function<std::string(const std::string& requested)>;

// Runs work(). Exceptions of types outside base/error.h become an IoError with
// ErrorText(), or with out_of_memory()'s message if the memory of the machine
// or the GPU ran out; out_of_memory may be empty.
void TranslateTorchErrors(const std::function<void()>& work,
                          const OutOfMemoryText& out_of_memory = {});

}  // namespace infeed

#pragma once

#include <exception>
#include <functional>
#include <string>

// The door by which errors leave LibTorch's side of the program.
namespace infeed {

// What an error says, in one line and without the frames of LibTorch's stack.
[[nodiscard]] std::string ErrorText(const std::exception& error);

// Of memory that ran out: "3211 MiB more", where the error says how much was
// asked for, else "more".
using OutOfMemoryText = std::function<std::string(const std::string& asked)>;

// Runs work. What it throws that is none of our errors comes out as an IoError
// with ErrorText(), or, where the memory of the machine or the GPU ran out,
// with what out_of_memory() says; it may be empty.
void AtTorchsDoor(const std::function<void()>& work,
                  const OutOfMemoryText& out_of_memory = {});

}  // namespace infeed

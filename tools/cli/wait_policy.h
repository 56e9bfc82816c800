#pragma once

#include <string>

// How the threads of an OpenMP runtime wait for each other.
namespace infeed {

// This program's file, for exec: where the name in `ps` comes from. As long as
// the file is where it was; else "/proc/self/exe".
[[nodiscard]] std::string ProgramPath();

// Has waiting threads sleep. By default they spin, on cores that the input's
// threads, other ranks and other programs need. An OpenMP runtime reads that
// when it is loaded, so unless the environment has OMP_WAIT_POLICY,
// GOMP_SPINCOUNT or KMP_BLOCKTIME, this starts the program anew, in the same
// process, with OMP_WAIT_POLICY=passive; what was blocked or pending stays so.
// Returns where there is nothing to do, or where that fails.
//
// For a program's .preinit_array: before any library initialises itself. Under
// valgrind set the variable by hand, or it loses sight of the program.
void WaitWithoutSpinning(char** argv, char** environment);

}  // namespace infeed

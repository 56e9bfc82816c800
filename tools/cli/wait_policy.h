#pragma once

#include <string>

// How the threads of an OpenMP runtime wait for each other.
namespace infeed {

// The path of this program's file, for exec, which takes the name in `ps` from
// it; "/proc/self/exe" if the file was moved.
[[nodiscard]] std::string ProgramPath();

// Makes waiting OpenMP threads sleep after some 20 us. By default they spin for
// milliseconds, on cores that the input's threads, other ranks and other
// programs need; sleeping at once doubles the system's time of small networks
// (docs/performance.md). An OpenMP runtime reads its settings when it is
// loaded; so unless the environment has OMP_WAIT_POLICY, GOMP_SPINCOUNT or
// KMP_BLOCKTIME, this function restarts the program in the same process with
// OMP_WAIT_POLICY=passive and GOMP_SPINCOUNT=1000. Blocked and pending signals
// stay so. Returns if there is nothing to do, or if the restart fails.
//
// For a program's .preinit_array: before any library initialises itself. Under
// valgrind set the variable by hand, or valgrind loses the program.
void WaitWithShortSpins(char** argv, char** environment);

}  // namespace infeed

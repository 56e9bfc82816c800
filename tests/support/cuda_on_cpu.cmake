# cmake -D IN=FILE.cu -D OUT=FILE.cc -P cuda_on_cpu.cmake
# Rewrites KERNEL<<<HOW>>>(ARGUMENTS) to
# infeed::CudaLaunch(KERNEL, HOW)(ARGUMENTS), which is C++
# (tests/support/cuda_on_cpu.h); the rest, and the numbers of lines, are left as
# they are.
cmake_minimum_required(VERSION 3.25)
file(READ ${IN} text)
string(REGEX REPLACE "([A-Za-z0-9_]+(<[^<>]*>)?)([ \n]*)<<<([^<>]*)>>>\\("
  "infeed::CudaLaunch(\\1,\\3\\4)(" text "${text}")
file(WRITE ${OUT} "#line 1 \"${IN}\"\n${text}")

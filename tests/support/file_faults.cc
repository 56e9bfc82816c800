// A library to be preloaded into a program: at one of the calls that change
// files under a folder, the program is killed, or the call fails.
//
//   FAULT_UNDER  the folder
//   FAULT_AT     which call, from 1
//   FAULT_ERRNO  the error of the call, and of every later one that would take
//                space; 0: the program gets SIGKILL before the call
#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstdarg>
#include <cstdlib>
#include <string>

namespace {

std::atomic<int> calls{0};

std::string Variable(const char* name) {
  const char* const value = std::getenv(name);
  return value != nullptr ? value : "";
}

bool IsUnder(const std::string& path) {
  static const std::string folder = Variable("FAULT_UNDER");
  return !folder.empty() && path.starts_with(folder);
}

std::string PathOf(int descriptor) {
  std::array<char, 4096> path{};
  const std::string link = "/proc/self/fd/" + std::to_string(descriptor);
  const ssize_t size = ::readlink(link.c_str(), path.data(), path.size());
  return {path.data(), size > 0 ? static_cast<std::size_t>(size) : 0};
}

std::string PathAt(int folder, const char* name) {
  return name[0] == '/' || folder == AT_FDCWD ? name
                                              : PathOf(folder) + "/" + name;
}

// Whether the call on this path is to fail; then errno is set.
bool Fails(const std::string& path, bool takes_space) {
  static const int at = std::atoi(Variable("FAULT_AT").c_str());
  static const int error = std::atoi(Variable("FAULT_ERRNO").c_str());
  if (!IsUnder(path) || (error != 0 && !takes_space)) {
    return false;
  }
  const int call = ++calls;
  if (error == 0 && call == at) {
    ::kill(::getpid(), SIGKILL);
  }
  errno = error;
  return error != 0 && call >= at;
}

// Whether open() may make a file, perhaps one without a name.
bool MakesFile(int flags) {
  return (flags & O_CREAT) != 0 || (flags & O_TMPFILE) == O_TMPFILE;
}

template <typename Function>
Function* Real(const char* name) {
  return reinterpret_cast<Function*>(::dlsym(RTLD_NEXT, name));
}

}  // namespace

extern "C" {

int open(const char* path, int flags, ...) {
  va_list arguments;
  va_start(arguments, flags);
  const mode_t mode = va_arg(arguments, mode_t);
  va_end(arguments);
  if (MakesFile(flags) && Fails(path, true)) {
    return -1;
  }
  return Real<int(const char*, int, mode_t)>("open")(path, flags, mode);
}

int openat(int folder, const char* path, int flags, ...) {
  va_list arguments;
  va_start(arguments, flags);
  const mode_t mode = va_arg(arguments, mode_t);
  va_end(arguments);
  if (MakesFile(flags) && Fails(PathAt(folder, path), true)) {
    return -1;
  }
  return Real<int(int, const char*, int, mode_t)>("openat")(folder, path, flags,
                                                            mode);
}

ssize_t write(int descriptor, const void* bytes, size_t count) {
  if (Fails(PathOf(descriptor), true)) {
    return -1;
  }
  return Real<ssize_t(int, const void*, size_t)>("write")(descriptor, bytes,
                                                          count);
}

int fsync(int descriptor) {
  return Fails(PathOf(descriptor), true) ? -1
                                         : Real<int(int)>("fsync")(descriptor);
}

int mkdir(const char* path, mode_t mode) {
  return Fails(path, true)
             ? -1
             : Real<int(const char*, mode_t)>("mkdir")(path, mode);
}

int mkdirat(int folder, const char* path, mode_t mode) {
  return Fails(PathAt(folder, path), true)
             ? -1
             : Real<int(int, const char*, mode_t)>("mkdirat")(folder, path,
                                                              mode);
}

int renameat(int from_folder, const char* from, int to_folder, const char* to) {
  return Fails(PathAt(from_folder, from), true)
             ? -1
             : Real<int(int, const char*, int, const char*)>("renameat")(
                   from_folder, from, to_folder, to);
}

int rename(const char* from, const char* to) {
  return Fails(from, true)
             ? -1
             : Real<int(const char*, const char*)>("rename")(from, to);
}

int renameat2(int from_folder, const char* from, int to_folder, const char* to,
              unsigned flags) {
  return Fails(PathAt(from_folder, from), true)
             ? -1
             : Real<int(int, const char*, int, const char*, unsigned)>(
                   "renameat2")(from_folder, from, to_folder, to, flags);
}

int unlink(const char* path) {
  return Fails(path, false) ? -1 : Real<int(const char*)>("unlink")(path);
}

int unlinkat(int folder, const char* path, int flags) {
  return Fails(PathAt(folder, path), false)
             ? -1
             : Real<int(int, const char*, int)>("unlinkat")(folder, path,
                                                            flags);
}

}  // extern "C"

#include "records/bytes/mapped_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <mutex>
#include <utility>

#include "base/descriptor.h"
#include "base/error.h"
#include "base/rounding.h"

namespace infeed {

// The list that the signal's handler reads: it only grows, and its entries are
// used again.
struct MappedFile::Guarded {
  std::atomic<std::uintptr_t> begin{0};  // 0: free
  std::atomic<std::uintptr_t> end{0};
  std::atomic<bool> is_damaged{false};
  Guarded* next = nullptr;
};

struct BusErrors {
  using Guarded = MappedFile::Guarded;

  static Guarded* Watch(std::span<const std::byte> bytes) {
    static std::once_flag installed;
    std::call_once(installed, Install);
    static std::mutex mutex;
    const std::lock_guard lock(mutex);
    Guarded* entry = first.load();
    while (entry != nullptr && entry->begin.load() != 0) {
      entry = entry->next;
    }
    if (entry == nullptr) {
      entry = new Guarded;  // Never freed: a handler may be looking at it.
      entry->next = first.load();
      first.store(entry);
    }
    const auto begin = reinterpret_cast<std::uintptr_t>(bytes.data());
    entry->is_damaged.store(false);
    entry->end.store(RoundUp(begin + bytes.size(), page));
    entry->begin.store(begin);
    return entry;
  }

  static void Install() {
    page = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
    struct sigaction action {};
    action.sa_sigaction = Handle;
    action.sa_flags = SA_SIGINFO | SA_NODEFER;
    ::sigemptyset(&action.sa_mask);
    if (::sigaction(SIGBUS, &action, &before) != 0) {
      throw IoError("SIGBUS", "handle", errno);
    }
  }

  // Only calls system calls.
  static void Handle(int signal, siginfo_t* info, void* context) {
    const int saved = errno;
    const auto address = reinterpret_cast<std::uintptr_t>(info->si_addr);
    if (!Replace(address)) {
      HandAllOver(signal, info, context);
    }
    errno = saved;
  }

  // Puts zeros in place of a guarded mapping from an address on. False: the
  // address is in none.
  static bool Replace(std::uintptr_t address) {
    for (Guarded* entry = first.load(); entry != nullptr; entry = entry->next) {
      const std::uintptr_t end = entry->end.load();
      if (entry->begin.load() == 0 || address < entry->begin.load() ||
          address >= end) {
        continue;
      }
      const std::uintptr_t start = address / page * page;
      entry->is_damaged.store(true);
      return MapZeros(start, end - start);
    }
    return false;
  }

  static bool MapZeros(std::uintptr_t start, std::size_t bytes) {
    constexpr int kFlags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED;
#ifdef __SANITIZE_THREAD__
    // ThreadSanitizer would take mmap() for a write to all the bytes. The call
    // itself has other arguments on some CPUs.
    return ::syscall(SYS_mmap, start, bytes, PROT_READ, kFlags, -1, 0) != -1;
#else
    return ::mmap(reinterpret_cast<void*>(start), bytes, PROT_READ, kFlags, -1,
                  0) != MAP_FAILED;
#endif
  }

  static void HandAllOver(int signal, siginfo_t* info, void* context) {
    if ((before.sa_flags & SA_SIGINFO) != 0) {
      before.sa_sigaction(signal, info, context);
    } else if (before.sa_handler != SIG_DFL && before.sa_handler != SIG_IGN) {
      before.sa_handler(signal);
    } else {
      ::sigaction(SIGBUS, &before, nullptr);  // The access fails again.
    }
  }

  static inline std::atomic<Guarded*> first{nullptr};
  static inline struct sigaction before = {};
  static inline std::uintptr_t page = 4096;
};

namespace {

// Under such a limit a mapping takes room that allocations need.
bool IsAddressSpaceLimited() {
  struct rlimit limit {};
  return ::getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY;
}

}  // namespace

std::unique_ptr<MappedFile> MappedFile::Map(const std::string& path) {
  if (IsAddressSpaceLimited()) {
    return nullptr;
  }
  const Descriptor file(
      ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  struct stat status {};
  void* start = MAP_FAILED;
  if (::fstat(file.get(), &status) == 0 && S_ISREG(status.st_mode) &&
      status.st_size > 0 && std::in_range<std::size_t>(status.st_size)) {
    start = ::mmap(nullptr, static_cast<std::size_t>(status.st_size), PROT_READ,
                   MAP_SHARED, file.get(), 0);
  }
  if (start == MAP_FAILED) {
    return nullptr;
  }
  return std::unique_ptr<MappedFile>(
      new MappedFile({static_cast<const std::byte*>(start),
                      static_cast<std::size_t>(status.st_size)}));
}

MappedFile::MappedFile(std::span<const std::byte> bytes)
    : bytes_(bytes), guarded_(BusErrors::Watch(bytes)) {}

MappedFile::~MappedFile() {
  guarded_->begin.store(0);
  ::munmap(const_cast<std::byte*>(bytes_.data()), bytes_.size());
}

bool MappedFile::is_damaged() const { return guarded_->is_damaged.load(); }

bool MappedFile::IsWhole(std::span<const std::byte> part) const {
  if (std::ranges::count(part.last(4), std::byte{0}) == 4) {
    guarded_->is_damaged.store(true);
  }
  return !is_damaged();
}

}  // namespace infeed

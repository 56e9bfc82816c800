#include "tests/support/cuda_on_cpu.h"

#include <ucontext.h>

#include <algorithm>
#include <map>
#include <memory>
#include <numeric>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"

dim3 threadIdx, blockIdx, blockDim, gridDim;

namespace infeed {
namespace {

std::string& Failure() {
  static std::string failure;
  return failure;
}

void Fail(const std::string& why) {
  if (Failure().empty()) {
    Failure() = why;
  }
}

// ---- The device's memory ----

constexpr std::size_t kRedZone = 256;  // before and after an allocation
constexpr char kRed = '\xFD';

struct Allocation {
  explicit Allocation(std::size_t size)
      : bytes(size + 2 * kRedZone, kRed), memory(Start()) {}

  // Aligned as CUDA's memory is; at least half a red zone lies before it.
  [[nodiscard]] char* Start() {
    void* start = bytes.data() + kRedZone / 2;
    std::size_t space = bytes.size();
    return static_cast<char*>(std::align(kRedZone / 2, 1, start, space));
  }
  [[nodiscard]] bool IsIntact(std::size_t size) const {
    const auto is_red = [](char byte) { return byte == kRed; };
    return std::all_of(bytes.data(), static_cast<const char*>(memory),
                       is_red) &&
           std::all_of(static_cast<const char*>(memory) + size,
                       bytes.data() + bytes.size(), is_red);
  }

  std::vector<char> bytes;
  char* memory;
};

struct Held {
  std::unique_ptr<Allocation> allocation;
  std::size_t size = 0;
};

std::map<void*, Held>& Memory() {
  static std::map<void*, Held> memory;
  return memory;
}

using Snapshot = std::vector<std::vector<char>>;

Snapshot TakeSnapshot() {
  Snapshot snapshot;
  for (const auto& [start, held] : Memory()) {
    snapshot.push_back(held.allocation->bytes);
  }
  return snapshot;
}

// In place: pointers to the memory stay.
void Restore(const Snapshot& snapshot) {
  auto from = snapshot.begin();
  for (auto& [start, held] : Memory()) {
    std::ranges::copy(*from++, held.allocation->bytes.begin());
  }
}

void CheckRedZones() {
  for (const auto& [start, held] : Memory()) {
    if (!held.allocation->IsIntact(held.size)) {
      Fail("a kernel wrote outside an allocation of " +
           std::to_string(held.size) + " bytes");
    }
  }
}

// ---- Threads ----

enum class Order { kForward, kBackward, kShuffled };

bool tries_orders = true;

// The order is equal in each run of a test.
std::vector<unsigned> Ordered(unsigned count, Order order, unsigned seed) {
  std::vector<unsigned> places(count);
  std::iota(places.begin(), places.end(), 0U);
  if (order == Order::kBackward) {
    std::ranges::reverse(places);
  }
  if (order == Order::kShuffled) {
    std::ranges::shuffle(places, std::mt19937(seed));
  }
  return places;
}

enum class State { kReady, kAtBlockBarrier, kAtWarpBarrier, kDone };

constexpr std::size_t kStack = std::size_t{64} << 10;
constexpr unsigned kWarp = 32;

struct Fiber {
  ucontext_t context = {};
  std::unique_ptr<char[]> stack = std::make_unique<char[]>(kStack);
  State state = State::kDone;
};

// The threads of one block. Kernels use one dimension of threads.
class Block {
 public:
  // Returns whether all threads ended.
  bool Run(unsigned threads, Order order, const std::function<void()>& thread);

  void Wait(State barrier) {
    Fiber& fiber = *fibers_[threadIdx.x];
    fiber.state = barrier;
    ::swapcontext(&fiber.context, &scheduler_);
  }
  [[nodiscard]] std::uint64_t* Slots() {
    return slots_.data() + threadIdx.x / kWarp * kWarp;
  }

 private:
  static void Enter();
  void Start(unsigned threads);
  void RunReady(const std::vector<unsigned>& places);
  [[nodiscard]] bool Release(unsigned first, unsigned end, State barrier);
  [[nodiscard]] bool ReleaseAll();

  std::vector<std::unique_ptr<Fiber>> fibers_;  // kept from block to block
  unsigned threads_ = 0;
  const std::function<void()>* thread_ = nullptr;
  std::vector<std::uint64_t> slots_;
  ucontext_t scheduler_ = {};
};

Block& TheBlock() {
  static Block block;
  return block;
}

void Block::Enter() {
  Block& block = TheBlock();
  (*block.thread_)();
  block.fibers_[threadIdx.x]->state = State::kDone;
}

void Block::Start(unsigned threads) {
  threads_ = threads;
  slots_.assign((threads + kWarp - 1) / kWarp * kWarp, 0);
  while (fibers_.size() < threads) {
    fibers_.push_back(std::make_unique<Fiber>());
  }
  for (unsigned i = 0; i < threads; ++i) {
    Fiber& fiber = *fibers_[i];
    ::getcontext(&fiber.context);
    fiber.context.uc_stack.ss_sp = fiber.stack.get();
    fiber.context.uc_stack.ss_size = kStack;
    fiber.context.uc_link = &scheduler_;
    ::makecontext(&fiber.context, &Block::Enter, 0);
    fiber.state = State::kReady;
  }
}

void Block::RunReady(const std::vector<unsigned>& places) {
  for (const unsigned place : places) {
    if (fibers_[place]->state == State::kReady) {
      threadIdx = dim3(place, 0, 0);
      ::swapcontext(&scheduler_, &fibers_[place]->context);
    }
  }
}

// Releases threads [first, end) if all of them are at the barrier.
bool Block::Release(unsigned first, unsigned end, State barrier) {
  const auto begin = fibers_.begin();
  const bool are_there =
      std::all_of(begin + first, begin + end,
                  [&](const auto& fiber) { return fiber->state == barrier; });
  if (are_there) {
    std::for_each(begin + first, begin + end,
                  [](const auto& fiber) { fiber->state = State::kReady; });
  }
  return are_there;
}

// Returns whether any thread can go on.
bool Block::ReleaseAll() {
  bool any = Release(0, threads_, State::kAtBlockBarrier);
  for (unsigned first = 0; first < threads_; first += kWarp) {
    any |= Release(first, std::min(threads_, first + kWarp),
                   State::kAtWarpBarrier);
  }
  return any;
}

bool Block::Run(unsigned threads, Order order,
                const std::function<void()>& thread) {
  thread_ = &thread;
  Start(threads);
  unsigned seed = 0;
  do {
    RunReady(Ordered(threads, order, ++seed));
  } while (ReleaseAll());
  return std::all_of(
      fibers_.begin(), fibers_.begin() + threads,
      [](const auto& fiber) { return fiber->state == State::kDone; });
}

void RunGrid(Order order, const std::function<void()>& thread) {
  for (const unsigned place :
       Ordered(gridDim.x * gridDim.y, order, gridDim.x)) {
    blockIdx = dim3(place % gridDim.x, place / gridDim.x, 0);
    if (!TheBlock().Run(blockDim.x, order, thread)) {
      Fail("threads wait at a barrier that others do not reach");
      return;
    }
  }
}

}  // namespace

OneOrder::OneOrder() : before_(std::exchange(tries_orders, false)) {}
OneOrder::~OneOrder() { tries_orders = before_; }

void RunOnCpu(const dim3& grid, const dim3& block,
              const std::function<void()>& thread) {
  Check(block.y == 1 && block.z == 1 && grid.z == 1,
        "kernels have one dimension of threads and two of blocks");
  gridDim = grid;
  blockDim = block;
  const Snapshot before = TakeSnapshot();
  RunGrid(Order::kForward, thread);
  CheckRedZones();
  if (!tries_orders) {
    return;
  }
  const Snapshot after = TakeSnapshot();
  for (const Order order : {Order::kBackward, Order::kShuffled}) {
    Restore(before);
    RunGrid(order, thread);
    if (TakeSnapshot() != after) {
      Fail("the order of the threads changes the result");
    }
  }
}

void WaitForBlock() { TheBlock().Wait(State::kAtBlockBarrier); }
void WaitForWarp() { TheBlock().Wait(State::kAtWarpBarrier); }
std::uint64_t* WarpSlots() { return TheBlock().Slots(); }

void RunGraph(const CUgraph_st& graph) {
  using Word = std::uint64_t;
  const auto kernel =
      reinterpret_cast<void (*)(Word, Word, Word, Word)>(graph.node.func);
  const auto& words = graph.node.kernelParams.words();
  RunOnCpu(graph.node.gridDim, graph.node.blockDim,
           [&] { kernel(words[0], words[1], words[2], words[3]); });
}

}  // namespace infeed

cudaError_t cudaGetLastError() {
  return infeed::Failure().empty() ? cudaSuccess : cudaErrorLaunchFailure;
}

// Returns the text of the last failure, and clears it.
const char* cudaGetErrorString(cudaError_t error) {
  static std::string text;
  if (error == cudaSuccess) {
    return "no error";
  }
  text = std::exchange(infeed::Failure(), "");
  return text.c_str();
}

cudaError_t cudaMalloc(void** memory, std::size_t bytes) {
  auto allocation = std::make_unique<infeed::Allocation>(bytes);
  *memory = allocation->memory;
  infeed::Memory()[*memory] = {std::move(allocation), bytes};
  return cudaSuccess;
}

cudaError_t cudaFree(void* memory) {
  infeed::Memory().erase(memory);
  return cudaSuccess;
}

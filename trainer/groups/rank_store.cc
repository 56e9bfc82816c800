#include "trainer/groups/rank_store.h"

#include <cstdint>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/error.h"

namespace infeed {
namespace {

[[noreturn]] void Refuse(const char* call) {
  throw IoError(fmt::format("the ranks' store has no {}()", call));
}

class RankStore final : public c10d::Store {
 public:
  RankStore(Ranks& ranks, std::string prefix, std::chrono::milliseconds timeout)
      : Store(timeout), ranks_(ranks), prefix_(std::move(prefix)) {}

  void set(const std::string& key,
           const std::vector<std::uint8_t>& value) override {
    ranks_.Post(prefix_ + key, std::string(value.begin(), value.end()));
  }

  std::vector<std::uint8_t> get(const std::string& key) override {
    const std::string value = Read(key, timeout_);
    return {value.begin(), value.end()};
  }

  void wait(const std::vector<std::string>& keys) override {
    wait(keys, timeout_);
  }

  void wait(const std::vector<std::string>& keys,
            const std::chrono::milliseconds& timeout) override {
    for (const std::string& key : keys) {
      (void)Read(key, timeout);
    }
  }

  std::int64_t add(const std::string& /*key*/,
                   std::int64_t /*value*/) override {
    Refuse("add");
  }
  bool deleteKey(const std::string& /*key*/) override { Refuse("deleteKey"); }
  bool check(const std::vector<std::string>& /*keys*/) override {
    Refuse("check");
  }
  std::int64_t getNumKeys() override { Refuse("getNumKeys"); }

 private:
  std::string Read(const std::string& key, std::chrono::milliseconds timeout) {
    return ranks_.Read(prefix_ + key, timeout);
  }

  Ranks& ranks_;
  std::string prefix_;
};

}  // namespace

c10::intrusive_ptr<c10d::Store> MakeRankStore(
    Ranks& ranks, std::string prefix, std::chrono::milliseconds timeout) {
  return c10::make_intrusive<RankStore>(ranks, std::move(prefix), timeout);
}

}  // namespace infeed

#include "pipeline/remote/link_set.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "pipeline/remote/worker_list.h"

namespace infeed {

void LinkSet::Choose(std::vector<std::string> addresses,
                     const std::string& trainer, int most,
                     const LinkTimes& times) {
  std::vector<std::string> full;
  for (const auto& one : links_) {
    const std::string& address = one->link.address();
    if (one->link.is_dropped()) {
      std::erase(addresses, address);
    } else if (one->link.state() == WorkerLink::State::kFull &&
               std::ssize(full) < most && std::erase(addresses, address) > 0) {
      full.push_back(address);
    }
  }
  addresses = ChosenWorkers(std::move(addresses), trainer, most);
  addresses.insert(addresses.end(), full.begin(), full.end());
  for (const auto& one : links_) {
    one->is_unwanted = std::erase(addresses, one->link.address()) == 0 &&
                       !one->link.is_dropped();
  }
  for (const std::string& address : addresses) {
    links_.push_back(
        std::make_unique<ConnectedLink>(numbers_++, address, times));
  }
}

std::vector<std::unique_ptr<RpcChannel>> LinkSet::TakeEnded() {
  std::vector<std::unique_ptr<RpcChannel>> ended;
  for (const auto& one : links_) {
    if (one->channel && (one->is_unwanted || one->link.is_dropped())) {
      ended.push_back(std::move(one->channel));
    }
  }
  return ended;
}

void LinkSet::RemoveUnwanted() {
  std::erase_if(links_, [](const auto& one) { return one->is_unwanted; });
}

std::vector<ConnectedLink*> LinkSet::BeginOpening(
    WorkerLink::Clock::time_point now) {
  std::vector<ConnectedLink*> due;
  for (const auto& one : links_) {
    if (one->link.IsToOpen(now)) {
      one->link.Opening();
      due.push_back(one.get());
    }
  }
  return due;
}

std::vector<ConnectedLink*> LinkSet::InTurn() {
  std::vector<ConnectedLink*> links;
  for (std::size_t i = 0; i < links_.size(); ++i) {
    links.push_back(links_[(turn_ + i) % links_.size()].get());
  }
  ++turn_;
  return links;
}

bool LinkSet::IsAnyOpen() const {
  return std::ranges::any_of(
      links_, [](const auto& one) { return one->link.is_open(); });
}

int LinkSet::in_flight() const {
  int ranges = 0;
  for (const auto& one : links_) {
    ranges += one->link.in_flight();
  }
  return ranges;
}

LinkLatencies::Duration LinkSet::MedianLatency() const {
  std::vector<LinkLatencies::Duration> medians;
  for (const auto& one : links_) {
    if (one->link.is_open() && !one->link.latencies().empty()) {
      medians.push_back(one->link.latencies().median());
    }
  }
  if (medians.empty()) {
    return LinkLatencies::Duration::zero();
  }
  // Of two the lower one: else a slow one of two would be the measure.
  const auto middle =
      medians.begin() + static_cast<std::ptrdiff_t>((medians.size() - 1) / 2);
  std::ranges::nth_element(medians, middle);
  return *middle;
}

bool LinkSet::AreAllTried() const {
  return !links_.empty() && std::ranges::all_of(links_, [](const auto& one) {
    return one->link.is_tried();
  });
}

std::string LinkSet::Refusal() const {
  const WorkerLink* first = nullptr;
  int refused = 0;
  bool is_any_full = false;
  for (const auto& one : links_) {
    const WorkerLink::State state = one->link.state();
    is_any_full = is_any_full || state == WorkerLink::State::kFull;
    if (state == WorkerLink::State::kRefused) {
      first = refused++ == 0 ? &one->link : first;
    }
  }
  if (first == nullptr || is_any_full) {
    return {};
  }
  const std::string text = first->Title() + ": " + first->reason();
  return refused == 1
             ? text
             : text + " (" + std::to_string(refused) + " workers refuse it)";
}

std::vector<WorkerStats> LinkSet::stats(
    WorkerLink::Clock::time_point now) const {
  std::vector<WorkerStats> stats;
  for (const auto& one : links_) {
    stats.push_back(one->link.stats(now));
  }
  std::ranges::sort(stats, {}, &WorkerStats::address);
  return stats;
}

}  // namespace infeed

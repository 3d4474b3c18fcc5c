#include "coordinator/loop/pipeline.hpp"

#include <algorithm>
#include <iterator>

namespace kernelpro {

namespace {

constexpr int most_readers = 4;

}  // namespace

Result<std::optional<Evaluated>> judge_or_again(Laboratory& laboratory, const Job& job,
                                                const std::stop_token& stop) {
  Result<std::optional<Evaluated>> evaluated = laboratory.judge(job, stop);
  const bool ours =
      evaluated && *evaluated && (*evaluated)->certificate.verdict.outcome == Outcome::not_judged;
  return ours && !stop.stop_requested() ? laboratory.judge(job, stop) : std::move(evaluated);
}

Pipeline::Pipeline(Laboratory& laboratory, Author* author, const Playbook& playbook,
                   std::stop_token stop)
    : laboratory_(laboratory),
      author_(author),
      playbook_(playbook),
      exclusive_(laboratory.times_here()),
      stopped_by_others_(std::move(stop), [this] { stop_.request_stop(); }) {
  threads_.emplace_back([this] { build_all(stop_.get_token()); });
  for (int i = 0; i < std::min(laboratory.workers(), most_readers); ++i) {
    threads_.emplace_back([this] { read_all(stop_.get_token()); });
  }
  for (int i = 0; i < laboratory.workers(); ++i) {
    threads_.emplace_back([this] { judge_all(stop_.get_token()); });
  }
}

Pipeline::~Pipeline() {
  stop_.request_stop();
}

void Pipeline::write(AgentOrder order) {
  {
    const Lock lock(mutex_);
    ++writing_;
  }
  const NodeId node = order.node;
  writers_[node] = std::jthread([this, order = std::move(order)] {
    Result<Proposed> written = author_->write(order, stop_.get_token());
    const Lock done(mutex_);
    --writing_;
    if (written) {
      steps_.push_back({order.node, std::move(*written)});
    } else {
      steps_.push_back({order.node, written.error()});
    }
    changed_.notify_all();
  });
}

void Pipeline::build(NodeId node, Candidate candidate) {
  const Lock lock(mutex_);
  to_build_.emplace(node, std::move(candidate));
  changed_.notify_all();
}

void Pipeline::judge(Job job) {
  const Lock lock(mutex_);
  to_judge_.emplace(job.node, std::move(job));
  changed_.notify_all();
}

void Pipeline::read_ahead(Candidate candidate) {
  const Lock lock(mutex_);
  to_read_.push_back(std::move(candidate));
  changed_.notify_all();
}

std::optional<Step> Pipeline::next() {
  Lock lock(mutex_);
  const auto idle = [this] {
    return writing_ + building_ + judging_ == 0 && to_build_.empty() && to_judge_.empty();
  };
  changed_.wait(lock, stop_.get_token(), [&] { return !steps_.empty() || idle(); });
  if (stop_.stop_requested() || steps_.empty()) {
    return std::nullopt;
  }
  Step step = std::move(steps_.front());
  steps_.pop_front();
  lock.unlock();
  writers_.erase(step.node);
  return step;
}

Pipeline::Turn Pipeline::turn() {
  Lock lock(mutex_);
  changed_.wait(lock, stop_.get_token(), [this] { return may_compute(); });
  ++computing_;
  return Turn(*this);
}

void Pipeline::end_turn() {
  const Lock lock(mutex_);
  --computing_;
  changed_.notify_all();
}

void Pipeline::build_all(const std::stop_token& stop) {
  Lock lock(mutex_);
  while (changed_.wait(lock, stop, [this] { return !to_build_.empty() && may_compute(); })) {
    const std::map<NodeId, Candidate> candidates = std::exchange(to_build_, {});
    building_ += static_cast<int>(candidates.size());
    ++computing_;
    lock.unlock();
    std::vector<Step> steps = built(candidates, stop);
    lock.lock();
    --computing_;
    building_ -= static_cast<int>(candidates.size());
    std::move(steps.begin(), steps.end(), std::back_inserter(steps_));
    changed_.notify_all();
  }
}

void Pipeline::read_all(const std::stop_token& stop) {
  Lock lock(mutex_);
  while (changed_.wait(lock, stop, [this] { return !to_read_.empty() && may_compute(); })) {
    const Candidate candidate = std::move(to_read_.front());
    to_read_.pop_front();
    ++computing_;
    lock.unlock();
    playbook_.look_ahead(candidate, stop);
    lock.lock();
    --computing_;
    changed_.notify_all();
  }
}

std::vector<Step> Pipeline::built(const std::map<NodeId, Candidate>& candidates,
                                  const std::stop_token& stop) {
  std::vector<Candidate> together;
  together.reserve(candidates.size());
  for (const auto& [node, candidate] : candidates) {
    together.push_back(candidate);
  }
  Result<std::vector<BuildSummary>> summaries = laboratory_.build(together, stop);
  if (!summaries) {
    return {{candidates.begin()->first, summaries.error()}};
  }
  std::vector<Step> steps;
  steps.reserve(candidates.size());
  std::size_t next = 0;
  for (const auto& [node, candidate] : candidates) {
    steps.push_back({node, std::move((*summaries)[next++])});
  }
  return steps;
}

void Pipeline::judge_all(const std::stop_token& stop) {
  Lock lock(mutex_);
  while (changed_.wait(lock, stop, [this] { return may_judge(); })) {
    const Job job = std::move(to_judge_.extract(to_judge_.begin()).mapped());
    ++judging_;
    lock.unlock();
    Result<std::optional<Evaluated>> evaluated = judge_or_again(laboratory_, job, stop);
    lock.lock();
    --judging_;
    if (evaluated) {
      steps_.push_back({job.node, std::move(*evaluated)});
    } else {
      steps_.push_back({job.node, evaluated.error()});
    }
    changed_.notify_all();
  }
}

}  // namespace kernelpro

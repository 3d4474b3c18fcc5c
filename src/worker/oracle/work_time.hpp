// How long something has worked in all, for others that wait and must not be charged for it.
#pragma once

#include <chrono>
#include <mutex>
#include <optional>

namespace kernelpro {

class WorkTime {
 public:
  using Clock = std::chrono::steady_clock;
  using Duration = Clock::duration;

  // Counts until it is gone.
  class Span {
   public:
    explicit Span(WorkTime& time) : time_(time) { time_.begin(); }
    Span(const Span&) = delete;
    Span& operator=(const Span&) = delete;
    ~Span() { time_.end(); }

   private:
    WorkTime& time_;
  };

  // What is under way included; any thread may ask.
  [[nodiscard]] Duration so_far() const {
    const std::scoped_lock lock(mutex_);
    return done_ + (since_ ? Clock::now() - *since_ : Duration::zero());
  }

 private:
  void begin() {
    const std::scoped_lock lock(mutex_);
    since_ = Clock::now();
  }
  void end() {
    const std::scoped_lock lock(mutex_);
    done_ += Clock::now() - *since_;
    since_.reset();
  }

  mutable std::mutex mutex_;
  Duration done_ = Duration::zero();
  std::optional<Clock::time_point> since_;
};

}  // namespace kernelpro

#include "common/base/fair_deadline.hpp"

#include <algorithm>

#include "common/base/clock.hpp"
#include "common/base/stolen_time.hpp"

namespace kernelpro {

namespace {

// Time is stolen in steps of 10 ms, and a moment more does no harm.
constexpr std::int64_t least_move_ns = 20'000'000;

}  // namespace

FairDeadline::FairDeadline(std::int64_t timeout_ms, double stolen_before, Stolen stolen)
    : limit_ns_(std::max<std::int64_t>(timeout_ms, 0) * 1'000'000),
      stolen_before_(stolen_before),
      stolen_(stolen),
      start_ns_(now_ns()),
      end_ns_(start_ns_ + limit_ns_) {}

FairDeadline::FairDeadline(std::int64_t timeout_ms, double stolen_before)
    : FairDeadline(timeout_ms, stolen_before, stolen_ns) {}

bool FairDeadline::passed() {
  return passed_at(now_ns());
}

bool FairDeadline::passed_at(std::int64_t now_ns) {
  if (now_ns < end_ns_) {
    return false;
  }
  const std::int64_t taken = now_ns - start_ns_;
  const double lost = stolen_before_ < 0 ? 0 : std::max(0.0, stolen_() - stolen_before_);
  const std::int64_t had = taken - std::min(static_cast<std::int64_t>(lost), taken);
  if (limit_ns_ - had < least_move_ns || taken >= most_stretch * limit_ns_) {
    return true;
  }
  end_ns_ = std::min(now_ns + limit_ns_ - had, start_ns_ + most_stretch * limit_ns_);
  return false;
}

}  // namespace kernelpro

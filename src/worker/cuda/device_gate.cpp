#include "worker/cuda/device_gate.hpp"

#include <algorithm>

#include "common/base/clock.hpp"
#include "common/base/secret.hpp"

namespace kernelpro {

namespace {

constexpr unsigned until_equal = 1;  // CU_STREAM_WAIT_VALUE_EQ
constexpr std::size_t stamp_bytes = 2 * sizeof(std::uint64_t);
// The runner has said that its calls have ended when this is waited for.
constexpr std::int64_t patience_ms = 1000;
// A process that was killed is gone within seconds.
constexpr int abandon_tries = 1500;
constexpr std::int64_t abandon_ms = 20;

}  // namespace

DeviceGate::~DeviceGate() {
  if (stamps_ != 0) {
    gpu_.driver().free(stamps_);
  }
  if (aside_ != nullptr) {
    gpu_.driver().stream_destroy(aside_);
  }
}

Status DeviceGate::allocate() {
  KP_LET(shared_, gpu_.share(gpu_.granularity()));
  const cuda::Driver& driver = gpu_.driver();
  must(driver.set_bytes(shared_.pointer(), 0, shared_.bytes(), gpu_.stream()), "making a gate");
  must(driver.allocate(&stamps_, stamp_bytes), "making a gate");
  must(driver.stream_create(&aside_, cuda::non_blocking), "making a gate");
  must(gpu_.synchronize(), "making a gate");
  return trouble_.take();
}

// Its words may hold what an ended process left there, who knew all numbers so far: both are none
// again, and the next number tells nothing of the one after it.
std::uint32_t DeviceGate::close() {
  const cuda::Driver& driver = gpu_.driver();
  must(driver.set_bytes(shared_.pointer(), 0, shared_.bytes(), gpu_.stream()), "closing a gate");
  must(gpu_.synchronize(), "closing a gate");
  number_ = std::max(static_cast<std::uint32_t>(short_key(secret_key())), std::uint32_t{1});
  return number_;
}

void DeviceGate::open(Caches caches) {
  const cuda::Driver& driver = gpu_.driver();
  must(around_.give(caches), "giving inputs");
  must(gpu_.launch("stamp", 1, stamps_), "opening a gate");
  must(driver.stream_write_value(gpu_.stream(), shared_.pointer() + runner::gate_opened_at, number_,
                                 0),
       "opening a gate");
  must(driver.stream_wait_value(gpu_.stream(), shared_.pointer() + runner::gate_passed_at, number_,
                                until_equal),
       "waiting behind a gate");
  // By a kernel, which waits for its turn: whatever the other process still has under way is over.
  must(gpu_.launch("stamp", 1, stamps_ + sizeof(std::uint64_t)), "waiting behind a gate");
  must(around_.take(), "taking outputs");
}

void DeviceGate::open_blindly() {
  write_aside(runner::gate_opened_at);
}

bool DeviceGate::ends_within(std::int64_t milliseconds) {
  const std::int64_t deadline = now_ns() + milliseconds * ns_per_ms;
  while (gpu_.driver().stream_query(gpu_.stream()) != cuda::success) {
    if (now_ns() > deadline) {
      return false;
    }
  }
  return true;
}

// Once is not enough where a kernel of the ended process writes there until it is gone as well.
void DeviceGate::abandon() {
  for (int tries = 0; tries < abandon_tries && !ends_within(abandon_ms); ++tries) {
    write_aside(runner::gate_passed_at);
  }
}

std::optional<double> DeviceGate::pass() {
  if (!ends_within(patience_ms)) {
    return std::nullopt;
  }
  std::array<std::uint64_t, 2> stamps{};
  must(gpu_.driver().copy_to_host(stamps.data(), stamps_, stamp_bytes, gpu_.stream()),
       "reading stamps");
  must(gpu_.synchronize(), "reading stamps");
  return static_cast<double>(stamps[1] - stamps[0]);
}

void DeviceGate::write_aside(std::uint64_t at) {
  must(gpu_.driver().stream_write_value(aside_, shared_.pointer() + at, number_, 0),
       "opening a gate");
  must(gpu_.driver().stream_synchronize(aside_), "opening a gate");
}

}  // namespace kernelpro

// The GPU on the runner's side: opened before the runner confines itself, and the judge's buffers
// mapped there.
#pragma once

#include <string>
#include <vector>

#include "common/base/cuda_driver.hpp"
#include "common/base/result.hpp"
#include "runner/buffers.hpp"
#include "runner/channel.hpp"
#include "runner/library.hpp"

namespace kernelpro::runner {

class Device {
 public:
  Device() = default;
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;

  // Makes the primary context of the first visible GPU current (the one that the CUDA runtime of a
  // candidate uses too), with a stream and two events.
  [[nodiscard]] Status open();
  [[nodiscard]] bool is_open() const { return driver_ != nullptr; }

  // Maps every tensor of every set into address space of its own, inputs read-only, unmapped
  // address space on both sides. What was mapped before is let go.
  [[nodiscard]] cuda::Code attach(const Layout& layout, const std::vector<int>& descriptors);
  // Takes the scalars of `layout`; calls refer to ours.
  void rescale(const Layout& layout) { copy_scalars(layout, layout_); }
  [[nodiscard]] const std::vector<CallArguments>& calls() const { return calls_; }

  // `out` as a call on this device.
  void describe(CallArguments& out) const;

  // Lets go of what earlier calls pinned in the cache: it would survive the worker's flush.
  void forget_pinned_cache() { driver_->context_reset_persisting_l2(); }
  // Around the calls of a round: start() stamps the stream; stop() stamps it again, waits for the
  // whole context and gives the nanoseconds between the stamps.
  [[nodiscard]] cuda::Code start();
  [[nodiscard]] cuda::Code stop(std::int64_t& elapsed_ns);

  // Calls that are queued before their inputs are there: what is queued from close_gate() on waits
  // until the worker opens the gate with that number, and behind it mark_passed() tells the worker.
  // finish() gives the time between. No gate: invalid_value.
  [[nodiscard]] cuda::Code close_gate(std::uint32_t number);
  [[nodiscard]] cuda::Code mark_passed(std::uint32_t number);
  [[nodiscard]] cuda::Code finish(std::int64_t& elapsed_ns);

  // Allocates the one set of `layout` here instead of mapping what somebody else holds: inputs as
  // `inputs` has them (the set's input arena), outputs and workspace poisoned, and what the
  // candidate asks for beside.
  [[nodiscard]] cuda::Code lay_out(const Layout& layout, const char* inputs,
                                   const Library& library);
  // Empties the caches and begins a profiled range; ends it when all calls have.
  [[nodiscard]] cuda::Code begin_range(bool profiled);
  [[nodiscard]] cuda::Code end_range(bool profiled);

  [[nodiscard]] std::string text(cuda::Code code) const { return driver_->text(code); }

 private:
  struct Mapping {
    cuda::Pointer base = 0;  // of the reservation
    std::size_t reserved = 0;
    cuda::Pointer region = 0;
    std::size_t bytes = 0;
  };

  [[nodiscard]] cuda::Code set_up(const cuda::Driver& driver);
  [[nodiscard]] cuda::Code map_region(int descriptor, std::size_t bytes, bool writable,
                                      cuda::Pointer& region);
  [[nodiscard]] cuda::Code map_set(std::size_t set, const std::vector<int>& descriptors);
  [[nodiscard]] cuda::Code allocate_scratch(const Library& library, CallArguments& call);
  [[nodiscard]] cuda::Code allocate_poisoned(std::size_t bytes, cuda::Pointer& out);
  void release();

  const cuda::Driver* driver_ = nullptr;
  cuda::Stream stream_ = nullptr;
  cuda::Event begin_ = nullptr;
  cuda::Event end_ = nullptr;
  Layout layout_{};
  std::vector<Mapping> mappings_;
  std::vector<cuda::Pointer> states_;
  std::vector<CallArguments> calls_;
  cuda::Pointer gate_ = 0;
  cuda::Pointer sweeper_ = 0;  // what is written to empty the caches
  std::size_t sweeper_bytes_ = 0;
};

}  // namespace kernelpro::runner

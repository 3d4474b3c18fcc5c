// The judge's buffers as the candidate sees them: each tensor between pages that cannot be touched.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <iterator>
#include <vector>

#include "common/base/runner_protocol.hpp"
#include "kernelpro/candidate.h"

namespace kernelpro::runner {

// What one call gets.
struct CallArguments {
  kp_context context{};
  std::array<kp_tensor, max_tensors> tensors{};
};

// Arguments with shapes, scalars and axes but no data; `out` points into `layout`.
void describe_call(const Layout& layout, CallArguments& out);

inline void copy_scalars(const Layout& from, Layout& to) {
  std::copy(std::begin(from.scalars), std::end(from.scalars), std::begin(to.scalars));
}

class Buffers {
 public:
  Buffers() = default;
  Buffers(const Buffers&) = delete;
  Buffers& operator=(const Buffers&) = delete;
  ~Buffers() { release(); }

  // Maps all sets of `layout` from the arenas (inputs read-only), with guard pages on both sides of
  // every tensor, and allocates the prepared state. False when the system refuses.
  bool attach(const Layout& layout, int inputs, int outputs, int workspace);
  // Takes the scalars of `layout`; calls refer to ours.
  void rescale(const Layout& layout) { copy_scalars(layout, layout_); }
  void release();

  // What the call on each set gets.
  [[nodiscard]] const std::vector<CallArguments>& calls() const { return calls_; }

  // Which tensor an address belongs to, its guard pages included. Async-signal-safe.
  void locate(std::uint64_t address, Reply& reply) const;

 private:
  bool map_states();
  bool map_set(std::size_t set, int inputs, int outputs, int workspace);
  char* map_region(int fd, std::size_t offset, std::size_t bytes, bool writable);

  Layout layout_{};
  char* base_ = nullptr;
  std::size_t reserved_ = 0;
  char* next_ = nullptr;  // first address not yet handed out
  char* states_ = nullptr;
  std::size_t states_bytes_ = 0;
  std::size_t state_stride_ = 0;
  std::vector<CallArguments> calls_;
};

}  // namespace kernelpro::runner

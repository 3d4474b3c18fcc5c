// Input values: a pure function of task, shape, seed and distribution.
#pragma once

#include <cstdint>
#include <string_view>

#include "common/model/task.hpp"
#include "worker/tensor/buffers.hpp"

namespace kernelpro {

enum class Distribution {
  normal,    // what the task declares
  uniform,   // in [-1, 1)
  large,     // normal times 2^12 (2^4 in f16)
  tiny,      // normal over 2^12 (2^4 in f16)
  constant,  // one value everywhere
  negative,  // large and all below zero
  mixed,     // signs and magnitudes from tiny to large, one element in sixteen zero
};

inline constexpr Distribution all_distributions[] = {
    Distribution::normal,   Distribution::uniform,  Distribution::large, Distribution::tiny,
    Distribution::constant, Distribution::negative, Distribution::mixed};

[[nodiscard]] std::string_view name_of(Distribution distribution);

// Fills the inputs of `set`, and the slack around them with `slack`. Values of kind `uniform` stay
// in their declared range under every distribution; structured whole numbers keep their structure.
void fill_inputs(const Task& task, const BufferPlan& plan, const Arena& inputs, int set,
                 std::uint64_t seed, Distribution distribution, unsigned char slack = poison_byte);

// Fills input `index` alone, as fill_inputs would.
void fill_input(const Task& task, const BufferPlan& plan, const Arena& inputs, int set,
                std::size_t index, std::uint64_t seed, Distribution distribution,
                unsigned char slack = poison_byte);

}  // namespace kernelpro

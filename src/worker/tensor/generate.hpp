// Input values: a pure function of task, shape, seed and distribution.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "common/model/task.hpp"
#include "worker/tensor/buffers.hpp"
#include "worker/tensor/draw.hpp"

namespace kernelpro {

inline constexpr Distribution all_distributions[] = {
    Distribution::normal,   Distribution::uniform,  Distribution::large, Distribution::tiny,
    Distribution::constant, Distribution::negative, Distribution::mixed};

[[nodiscard]] std::string_view name_of(Distribution distribution);

// How a floating input is drawn; `stream` is input_stream of the set's seed.
[[nodiscard]] DrawRule draw_rule(const ValueSpec& values, DType dtype, std::uint64_t stream,
                                 Distribution distribution);
[[nodiscard]] std::uint64_t input_stream(std::uint64_t seed, std::size_t index);

// Whole numbers in [low, low + count); `count` alone is the bound of structured kinds.
struct WholeRange {
  std::int64_t low = 0;
  std::int64_t count = 0;
};
[[nodiscard]] WholeRange whole_range(const ValueSpec& values, const Axes& axes);

// The elements of an input of row pointers that end at `total`.
[[nodiscard]] std::vector<char> draw_offsets(const TensorPlan& tensor, std::int64_t total,
                                             std::uint64_t stream);

// The input that holds the row pointers of the columns `index`.
[[nodiscard]] std::size_t rows_input(const Task& task, std::size_t index);

// Fills the inputs of `set`, and the slack around them with `slack`. Values of kind `uniform` stay
// in their declared range under every distribution; structured whole numbers keep their structure.
void fill_inputs(const Task& task, const BufferPlan& plan, const Arena& inputs, int set,
                 std::uint64_t seed, Distribution distribution, unsigned char slack = poison_byte);

// Fills input `index` alone, as fill_inputs would.
void fill_input(const Task& task, const BufferPlan& plan, const Arena& inputs, int set,
                std::size_t index, std::uint64_t seed, Distribution distribution,
                unsigned char slack = poison_byte);

}  // namespace kernelpro

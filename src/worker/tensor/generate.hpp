// Input values: a pure function of task, shape, key and distribution.
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
    Distribution::constant, Distribution::negative, Distribution::mixed, Distribution::positive,
    Distribution::spiked,   Distribution::shifted};

[[nodiscard]] std::string_view name_of(Distribution distribution);

// The key of input `index` of a set, given the set's.
[[nodiscard]] Key input_key(const Key& set, std::size_t index);

// `count` alone is the bound of structured kinds.
[[nodiscard]] WholeRange whole_range(const ValueSpec& values, const Axes& axes);

// The input that holds the row pointers of the columns `index`.
[[nodiscard]] std::size_t rows_input(const Task& task, std::size_t index);

// Where one set's inputs come from.
struct SetDraw {
  Key key;
  Distribution distribution = Distribution::normal;
  bool called = true;  // false: it will not be, and may be left as it is
};

// Whether an input of a set is drawn. Constants are in every set: kp_prepare sees those of all, and
// would know by them which set is not called.
[[nodiscard]] bool is_due(const Task& task, const SetDraw& draw, std::size_t input);

// Where in its range whole input `index` lies: the same for all elements of a constant set, near
// one end of the range in tiny and large ones, near one place in shifted ones. Structured kinds
// have the range that they have.
[[nodiscard]] WholeRange drawn_range(const ValueSpec& values, const Axes& axes, std::size_t index,
                                     const SetDraw& draw);

// How floating input `index` of a task is drawn.
[[nodiscard]] DrawRule draw_rule(const Task& task, const TensorPlan& tensor, std::size_t index,
                                 const SetDraw& draw);

// Arenas of one plan that get the same values.
using InputCopies = std::vector<const Arena*>;

// Fills the inputs of `set`, and the slack around them with `slack`. Values of kind `uniform` stay
// in their declared range under every distribution; structured whole numbers keep their structure.
void fill_inputs(const Task& task, const BufferPlan& plan, const InputCopies& copies, int set,
                 const SetDraw& draw, unsigned char slack = poison_byte);
// The same for every set that is called, on all cores: one draw a set.
void fill_called_sets(const Task& task, const BufferPlan& plan, const InputCopies& copies,
                      const std::vector<SetDraw>& draws, unsigned char slack);

// Fills input `index` alone, as fill_inputs would.
void fill_input(const Task& task, const BufferPlan& plan, const InputCopies& copies, int set,
                std::size_t index, const SetDraw& draw, unsigned char slack = poison_byte);

}  // namespace kernelpro

// Index outputs at shapes where the reference is too slow to be asked as a whole: it is asked for
// the rows on which candidate and incumbent differ, and the value that an index selects counts.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "worker/judge/shape_buffers.hpp"

namespace kernelpro {

// What the outputs of a set were computed from.
struct SetInputs {
  const Task& task;
  Oracle& oracle;
  const ShapeBuffers& buffers;  // the inputs are in it as they were drawn
  const InputDraw& draw;
  int set = 0;
};

// The axis along which the rows of an index output are problems of their own: its first one, which
// is the first of some inputs and of the selection, and has no part in other shapes and values of
// inputs. Nothing: there is no such axis, or no reference that could be asked.
[[nodiscard]] std::optional<std::string> row_axis(const Task& task, const Axes& axes,
                                                  std::size_t output);

// Puts in the place of the errors of index outputs, which `errors` has as infinite wherever the
// sides differ, how much worse the selected values are than the best: ties are right. A bound
// becomes wider where the incumbent itself errs. Where the reference for rows alone does not
// confirm what both sides agree on, they are no problems of their own, and errors stay as they are.
// An error is ours: the reference failed.
[[nodiscard]] Status judge_selections(const SetInputs& in, std::vector<double>& bounds,
                                      std::vector<TensorError>& errors);

}  // namespace kernelpro

#include "coordinator/tune/space.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <set>
#include <utility>

namespace kernelpro {

namespace {

Error bad_space(std::string what) {
  return make_error(ErrorKind::bad_input, std::move(what));
}

Status check_parameters(const std::vector<TuneParameter>& parameters) {
  std::set<std::string> names;
  for (const TuneParameter& one : parameters) {
    if (!names.insert(one.name).second) {
      return bad_space(fmt::format("the parameter \"{}\" is there twice", one.name));
    }
    if (one.values.empty()) {
      return bad_space(fmt::format("the parameter \"{}\" has no values", one.name));
    }
    if (std::set(one.values.begin(), one.values.end()).size() != one.values.size()) {
      return bad_space(fmt::format("the parameter \"{}\" has a value twice", one.name));
    }
  }
  return names.empty() ? Status(bad_space("there is no parameter to tune")) : Status();
}

}  // namespace

Result<TuneSpace> TuneSpace::make(std::vector<TuneParameter> parameters,
                                  std::vector<Code> admitted) {
  KP_TRY(check_parameters(parameters));
  TuneSpace space;
  for (const TuneParameter& one : parameters) {
    space.strides_.push_back(space.all_);
    if (space.all_ > std::numeric_limits<Code>::max() / one.values.size()) {
      return bad_space("the parameters have more than 2^64 combinations");
    }
    space.all_ *= one.values.size();
  }
  std::sort(admitted.begin(), admitted.end());
  if (std::adjacent_find(admitted.begin(), admitted.end()) != admitted.end()) {
    return bad_space("a configuration is there twice");
  }
  if (!admitted.empty() && admitted.back() >= space.all_) {
    return bad_space("a configuration is none of the parameters' combinations");
  }
  space.parameters_ = std::move(parameters);
  space.admitted_ = std::move(admitted);
  return space;
}

std::uint64_t TuneSpace::place_of(Code code) const {
  if (admitted_.empty()) {
    return code;
  }
  return static_cast<std::uint64_t>(std::lower_bound(admitted_.begin(), admitted_.end(), code) -
                                    admitted_.begin());
}

bool TuneSpace::admits(Code code) const {
  return code < all_ &&
         (admitted_.empty() || std::binary_search(admitted_.begin(), admitted_.end(), code));
}

Code TuneSpace::code_of(const std::vector<std::size_t>& places) const {
  Code code = 0;
  for (std::size_t axis = 0; axis < places.size(); ++axis) {
    code += places[axis] * strides_[axis];
  }
  return code;
}

std::vector<Code> TuneSpace::neighbors(Code code) const {
  std::vector<Code> found;
  for (std::size_t axis = 0; axis < axes(); ++axis) {
    for (std::size_t other = 0; other < values_of(axis); ++other) {
      const Code next = with(code, axis, other);
      if (next != code && admits(next)) {
        found.push_back(next);
      }
    }
  }
  return found;
}

std::string TuneSpace::text(Code code) const {
  std::string text;
  for (std::size_t axis = 0; axis < axes(); ++axis) {
    text += fmt::format("{}{} = {}", text.empty() ? "" : ", ", parameters_[axis].name,
                        parameters_[axis].values[value(code, axis)]);
  }
  return text;
}

}  // namespace kernelpro

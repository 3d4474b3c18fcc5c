// The configurations of a program with tunable parameters.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "common/base/random.hpp"
#include "common/base/result.hpp"

namespace kernelpro {

struct TuneParameter {
  std::string name;
  std::vector<std::string> values;
  bool ordinal = true;  // neighbors in the list are near each other; false: names, and no order

  bool operator==(const TuneParameter&) const = default;
};

// A configuration as one number: the places of its values, the first parameter fastest.
using Code = std::uint64_t;

// All combinations of values, or those of them that are admitted.
class TuneSpace {
 public:
  // `admitted`: empty means all. A bad_input error: no parameter, one without values or named
  // twice, a value twice, more combinations than a code can count, or a code beyond them.
  [[nodiscard]] static Result<TuneSpace> make(std::vector<TuneParameter> parameters,
                                              std::vector<Code> admitted = {});

  [[nodiscard]] const std::vector<TuneParameter>& parameters() const { return parameters_; }
  [[nodiscard]] std::size_t axes() const { return parameters_.size(); }
  [[nodiscard]] std::size_t values_of(std::size_t axis) const {
    return parameters_[axis].values.size();
  }
  [[nodiscard]] std::uint64_t size() const { return admitted_.empty() ? all_ : admitted_.size(); }
  // The code at a place in [0, size()), and the place of an admitted code.
  [[nodiscard]] Code at(std::uint64_t place) const {
    return admitted_.empty() ? place : admitted_[place];
  }
  [[nodiscard]] std::uint64_t place_of(Code code) const;
  [[nodiscard]] bool admits(Code code) const;
  [[nodiscard]] Code draw(Random& random) const { return at(random.below(size())); }

  [[nodiscard]] std::size_t value(Code code, std::size_t axis) const {
    return code / strides_[axis] % values_of(axis);
  }
  [[nodiscard]] Code with(Code code, std::size_t axis, std::size_t value) const {
    return code - this->value(code, axis) * strides_[axis] + value * strides_[axis];
  }
  [[nodiscard]] Code code_of(const std::vector<std::size_t>& places) const;
  // Admitted codes that differ from it in one parameter.
  [[nodiscard]] std::vector<Code> neighbors(Code code) const;
  // "BLOCK = 16, TILE = 4"
  [[nodiscard]] std::string text(Code code) const;

 private:
  TuneSpace() = default;

  std::vector<TuneParameter> parameters_;
  std::vector<Code> strides_;
  std::vector<Code> admitted_;  // in ascending order
  std::uint64_t all_ = 1;
};

}  // namespace kernelpro

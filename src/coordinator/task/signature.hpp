// Reads a C function's signature from C++ source.
#pragma once

#include <string>
#include <vector>

#include "common/base/result.hpp"
#include "common/model/dtype.hpp"

namespace kernelpro {

struct EntryParameter {
  enum class Role { axis, scalar, input, output };

  Role role = Role::axis;
  std::string name;
  std::string type;          // as written, without const and restrict: "unsigned char"
  DType dtype = DType::f32;  // of tensors and scalars
};

struct Signature {
  std::string function;  // with its namespaces: "mine::saxpy"
  bool returns_int = false;
  int line = 0;
  std::vector<EntryParameter> parameters;
};

// Finds the definition of `entry` in `source` (`file` is only named in errors). Const pointers are
// inputs, other pointers outputs, whole numbers by value axes, floating numbers by value scalars;
// everything else is an error that names the parameter and what is supported.
[[nodiscard]] Result<Signature> parse_signature(const std::string& source, const std::string& entry,
                                                const std::string& file);

}  // namespace kernelpro

// Reads a C function's signature from C++ or CUDA source.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "common/base/result.hpp"
#include "common/model/dtype.hpp"

namespace kernelpro {

struct EntryParameter {
  // `stream` is a cudaStream_t, `flag` a bool by value, `untyped` a void*.
  enum class Role { axis, scalar, input, output, stream, flag, untyped };

  Role role = Role::axis;
  std::string name;
  std::string type;          // as written, without const and restrict: "unsigned char"
  DType dtype = DType::f32;  // of tensors and scalars
};

struct Signature {
  std::string function;  // with its namespaces: "mine::saxpy"
  std::string returns;   // "void", "int" or "cudaError_t"
  std::string text;      // its declaration, unqualified and without default arguments
  int line = 0;
  std::size_t first = 0;   // where it is first declared or defined in the source
  bool c_linkage = false;  // declared extern "C"
  std::vector<EntryParameter> parameters;
};

// "row_sums" of "rows::row_sums".
[[nodiscard]] std::string last_name(const std::string& function);

// Finds the definition of `entry` in `source` (`file` is only named in errors). Const pointers are
// inputs, other pointers outputs, whole numbers by value axes, floating numbers by value scalars;
// everything else is an error that names the parameter and what is supported. What belongs to CUDA
// (cudaStream_t, __half, cudaError_t) is read in any source.
[[nodiscard]] Result<Signature> parse_signature(const std::string& source, const std::string& entry,
                                                const std::string& file);

}  // namespace kernelpro

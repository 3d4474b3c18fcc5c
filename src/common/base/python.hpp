// The Python that runs oracle/torch_oracle.py.
#pragma once

#include <string>

#include "common/base/result.hpp"

namespace kernelpro {

struct Python {
  std::string path;
  std::string torch;  // the version of its PyTorch
};

// The one that KERNELPRO_PYTHON names, else the first python3 of PATH that has PyTorch; looked for
// once. An environment error says what is missing.
[[nodiscard]] Result<Python> python_with_torch();

}  // namespace kernelpro

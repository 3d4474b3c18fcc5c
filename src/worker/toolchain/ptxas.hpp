// What ptxas -v says about each kernel.
#pragma once

#include <string>
#include <vector>

#include "common/model/certificate.hpp"

namespace kernelpro {

struct PtxasReport {
  std::vector<KernelResources> kernels;  // in the order of ptxas; device functions are left out
  std::vector<std::string> warnings;     // what it says that costs speed; a few, each once
  std::string rest;                      // the text without ptxas' information
};

// `text` is all that nvcc wrote to its standard error. Warnings and errors of ptxas stay in `rest`.
[[nodiscard]] PtxasReport read_ptxas(const std::string& text);

}  // namespace kernelpro

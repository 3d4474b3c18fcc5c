// The texts that our GPU kernels are compiled from, carried in the program itself.
#pragma once

#include <map>
#include <string>

namespace kernelpro {

[[nodiscard]] std::string judge_kernels();                                // judge_kernels.cu
[[nodiscard]] std::map<std::string, std::string> judge_kernel_headers();  // what it includes

}  // namespace kernelpro

// A GPU as ground: buffers shared by file descriptor, filled and compared by our own kernels.
#pragma once

#include <memory>
#include <string>

#include "worker/cuda/gpu.hpp"
#include "worker/judge/ground.hpp"

namespace kernelpro {

// `gpu` must outlive the ground. `cupti`: the library that traces calls; empty: none.
[[nodiscard]] std::unique_ptr<Ground> make_cuda_ground(Gpu& gpu, const std::string& cupti = {});

}  // namespace kernelpro

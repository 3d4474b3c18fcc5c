// The workspaces of an arm on a GPU, one allocation a set, guarded like the outputs.
#pragma once

#include <memory>

#include "worker/cuda/gpu.hpp"
#include "worker/judge/ground.hpp"

namespace kernelpro {

// `gpu` must outlive it.
[[nodiscard]] Result<std::unique_ptr<Scratch>> make_device_scratch(Gpu& gpu, std::size_t bytes,
                                                                   int sets);

}  // namespace kernelpro

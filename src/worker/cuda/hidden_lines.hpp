// Lines of inputs that cannot be drawn again, taken away for a while: kept on the GPU and moved
// back.
#pragma once

#include <cstdint>

#include "worker/cuda/device_compare.hpp"
#include "worker/cuda/gpu.hpp"

namespace kernelpro {

class HiddenLines {
 public:
  // Both must outlive it.
  HiddenLines(Gpu& gpu, DeviceTrouble& trouble) : gpu_(gpu), trouble_(trouble) {}
  ~HiddenLines();
  HiddenLines(const HiddenLines&) = delete;
  HiddenLines& operator=(const HiddenLines&) = delete;

  // How much is kept of a tensor of `bytes`.
  [[nodiscard]] static std::size_t kept_bytes(std::size_t bytes);
  // Makes room for that much in all. Where that fails there is trouble, and nothing may be moved.
  void make_room(std::size_t bytes);
  // Moves the secret lines of the tensor at `data` to place `at` of the room, or back.
  void move(cuda::Pointer data, std::size_t bytes, std::uint64_t secret, std::size_t at, bool hide);

 private:
  Gpu& gpu_;
  DeviceTrouble& trouble_;
  cuda::Pointer room_ = 0;
  std::size_t room_bytes_ = 0;
};

}  // namespace kernelpro

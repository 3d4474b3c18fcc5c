#include "worker/cuda/device_scratch.hpp"

#include <utility>
#include <vector>

namespace kernelpro {

namespace {

class DeviceScratch : public Scratch {
 public:
  DeviceScratch(Gpu& gpu, std::size_t bytes) : gpu_(gpu), bytes_(bytes) {
    constexpr std::size_t alignment = 256;
    stride_ = round_up(round_up(bytes, alignment) + alignment, gpu.granularity());
    offset_ = stride_ - round_up(bytes, alignment);
  }

  [[nodiscard]] Status allocate(int sets) {
    for (int set = 0; set < sets; ++set) {
      KP_LET(DeviceBlock block, gpu_.share(stride_));
      blocks_.push_back(std::move(block));
    }
    return {};
  }

  void poison(unsigned char content) override {
    const cuda::Driver& driver = gpu_.driver();
    for (const DeviceBlock& block : blocks_) {
      driver.set_bytes(block.pointer(), poison_byte, stride_, gpu_.stream());
      driver.set_bytes(block.pointer() + offset_, content, bytes_, gpu_.stream());
    }
    // Not on a candidate's clock. What failed shows in the next call to the device.
    static_cast<void>(gpu_.synchronize());
  }

  [[nodiscard]] bool intact() override {
    // The slack is less than one unit of memory a set: it is looked at here.
    std::vector<char> front(offset_);
    std::vector<char> back(stride_ - offset_ - bytes_);
    for (const DeviceBlock& block : blocks_) {
      const cuda::Driver& driver = gpu_.driver();
      driver.copy_to_host(front.data(), block.pointer(), front.size(), gpu_.stream());
      driver.copy_to_host(back.data(), block.pointer() + offset_ + bytes_, back.size(),
                          gpu_.stream());
      if (gpu_.synchronize() != cuda::success || !is_poison(front.data(), front.size()) ||
          !is_poison(back.data(), back.size())) {
        return false;
      }
    }
    return true;
  }

  [[nodiscard]] std::vector<int> descriptors() const override {
    std::vector<int> out;
    out.reserve(blocks_.size());
    for (const DeviceBlock& block : blocks_) {
      out.push_back(block.descriptor());
    }
    return out;
  }

  void describe(runner::Layout& layout) const override {
    layout.workspace_bytes = bytes_;
    layout.workspace_stride = stride_;
    layout.workspace_offset = offset_;
  }

 private:
  Gpu& gpu_;
  std::size_t bytes_;
  std::size_t stride_ = 0;
  std::size_t offset_ = 0;
  std::vector<DeviceBlock> blocks_;
};

}  // namespace

Result<std::unique_ptr<Scratch>> make_device_scratch(Gpu& gpu, std::size_t bytes, int sets) {
  auto scratch = std::make_unique<DeviceScratch>(gpu, bytes);
  KP_TRY(scratch->allocate(sets));
  return std::unique_ptr<Scratch>(std::move(scratch));
}

}  // namespace kernelpro

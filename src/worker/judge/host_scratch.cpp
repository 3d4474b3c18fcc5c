#include "worker/judge/host_scratch.hpp"

#include <cstring>
#include <string>
#include <vector>

#include "common/base/memory.hpp"
#include "worker/judge/host_memory.hpp"

namespace kernelpro {

namespace {

class HostScratch : public Scratch {
 public:
  [[nodiscard]] static Result<std::unique_ptr<Scratch>> make(std::size_t bytes, int sets) {
    auto scratch = std::make_unique<HostScratch>();
    const MemoryUnits units = host_units();
    scratch->bytes_ = bytes;
    // As the outputs: slack in front, the end at a guard page.
    scratch->stride_ = round_up(round_up(bytes, units.alignment) + units.alignment, units.page);
    scratch->offset_ = scratch->stride_ - round_up(bytes, units.alignment);
    const std::size_t all_sets = scratch->stride_ * static_cast<std::size_t>(sets);
    // All of it is written before each round, beside everything else that is in memory.
    if (const std::int64_t left = available_memory_bytes();
        left > 0 && all_sets > static_cast<std::size_t>(left) / 2) {
      return make_error(ErrorKind::environment, "all calls of a round together would take " +
                                                    std::to_string(all_sets) + " bytes, and " +
                                                    std::to_string(left) + " are available");
    }
    KP_LET(scratch->arena_, Arena::create(all_sets, false));
    return std::unique_ptr<Scratch>(std::move(scratch));
  }

  void poison(unsigned char content) override {
    if (content == poison_byte) {
      std::memset(arena_.data(), poison_byte, arena_.size());
      return;
    }
    for (std::size_t at = 0; at + stride_ <= arena_.size(); at += stride_) {
      char* region = arena_.data() + at;
      std::memset(region, poison_byte, offset_);
      std::memset(region + offset_, content, bytes_);
      std::memset(region + offset_ + bytes_, poison_byte, stride_ - offset_ - bytes_);
    }
  }

  [[nodiscard]] bool intact() override {
    const std::size_t back = stride_ - offset_ - bytes_;
    for (std::size_t at = 0; at + stride_ <= arena_.size(); at += stride_) {
      const char* region = arena_.data() + at;
      if (!is_poison(region, offset_) || !is_poison(region + stride_ - back, back)) {
        return false;
      }
    }
    return true;
  }

  [[nodiscard]] std::vector<int> descriptors() const override { return {arena_.fd()}; }

  void describe(runner::Layout& layout) const override {
    layout.workspace_bytes = bytes_;
    layout.workspace_stride = stride_;
    layout.workspace_offset = offset_;
  }

 private:
  Arena arena_;
  std::size_t bytes_ = 0;
  std::size_t stride_ = 0;  // of one set; the workspace ends within one alignment of its end
  std::size_t offset_ = 0;
};

}  // namespace

Result<std::unique_ptr<Scratch>> make_host_scratch(std::size_t bytes, int sets) {
  return HostScratch::make(bytes, sets);
}

}  // namespace kernelpro

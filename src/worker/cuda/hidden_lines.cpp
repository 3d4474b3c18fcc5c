#include "worker/cuda/hidden_lines.hpp"

namespace kernelpro {

namespace {

// Lines as judge_kernels.cu has them.
constexpr std::size_t line_bytes = 128;
constexpr std::size_t word_bytes = 16;
constexpr std::size_t lines_a_block = 256;

}  // namespace

HiddenLines::~HiddenLines() {
  if (room_ != 0) {
    gpu_.driver().free(room_);
  }
}

std::size_t HiddenLines::kept_bytes(std::size_t bytes) {
  const std::size_t lines = bytes / line_bytes;
  const std::size_t slots = lines == 0 ? 0 : 2 + (lines + lines_a_block - 1) / lines_a_block;
  return slots * line_bytes;
}

void HiddenLines::make_room(std::size_t bytes) {
  if (bytes <= room_bytes_) {
    return;
  }
  if (room_ != 0) {
    gpu_.driver().free(room_);
  }
  room_ = 0;
  trouble_.must(gpu_.driver().allocate(&room_, bytes), "making room for hidden inputs");
  room_bytes_ = room_ == 0 ? 0 : bytes;
}

void HiddenLines::move(cuda::Pointer data, std::size_t bytes, std::uint64_t secret, std::size_t at,
                       bool hide) {
  const std::uint64_t lines = bytes / line_bytes;
  const std::uint64_t slots = kept_bytes(bytes) / line_bytes;
  if (slots > 0) {
    trouble_.must(gpu_.launch("move_lines", slots * line_bytes / word_bytes, data, lines, slots,
                              secret, room_ + at, hide ? 1 : 0),
                  "hiding inputs");
  }
}

}  // namespace kernelpro

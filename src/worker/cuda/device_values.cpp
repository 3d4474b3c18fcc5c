// What the judge does to inputs after they were drawn, and how it reads values back.
#include "worker/cuda/device_memory.hpp"

namespace kernelpro {

void DeviceMemory::nudge(const Key& key, std::uint32_t roundings) {
  for (int set = 0; set < plan_.sets; ++set) {
    for (std::size_t i = 0; i < plan_.input_count; ++i) {
      const TensorPlan& tensor = plan_.tensors[i];
      if (is_floating(tensor.dtype) && tensor.elements > 0) {
        const auto elements = static_cast<std::uint64_t>(tensor.elements);
        must(gpu_.launch("nudge", elements / chacha::words + 1, drawn(set, i),
                         type_number(tensor.dtype), elements,
                         derive(key, static_cast<std::uint64_t>(set), i), roundings),
             "nudging inputs");
      }
    }
  }
}

void DeviceMemory::round_inputs(Lower lower) {
  for (int set = 0; set < plan_.sets; ++set) {
    for (std::size_t i = 0; i < plan_.input_count; ++i) {
      const TensorPlan& tensor = plan_.tensors[i];
      if (is_floating(tensor.dtype) && tensor.elements > 0) {
        const auto elements = static_cast<std::uint64_t>(tensor.elements);
        must(gpu_.launch("round_values", elements, drawn(set, i), type_number(tensor.dtype),
                         elements, static_cast<int>(lower)),
             "rounding inputs");
      }
    }
  }
}

void DeviceMemory::draw_again() {
  const std::vector<SetDraw> last = draws_;
  draw(last, static_cast<unsigned char>(slack_));
}

void DeviceMemory::read(cuda::Pointer from, std::size_t bytes, char* to, const char* doing) {
  if (bytes > 0) {
    must(gpu_.driver().copy_to_host(to, from, bytes, gpu_.stream()), doing);
    must(gpu_.synchronize(), doing);
  }
}

void DeviceMemory::read_input(int set, std::size_t input, std::size_t first, std::size_t bytes,
                              char* to) {
  read(drawn(set, input) + first, bytes, to, "reading inputs");
}

void DeviceMemory::read_output(Side side, int set, std::size_t output, std::size_t first,
                               std::size_t bytes, char* to) {
  read(taken(side, set, output) + first, bytes, to, "reading outputs");
}

}  // namespace kernelpro

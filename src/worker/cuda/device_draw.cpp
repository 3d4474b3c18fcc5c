// How inputs are drawn on a GPU: by kernels of ours, or by PyTorch.
#include "worker/cuda/device_memory.hpp"
#include "worker/tensor/offsets.hpp"
#include "worker/tensor/parallel.hpp"

namespace kernelpro {

namespace {

// The plan of what PyTorch draws: inputs alone.
BufferPlan inputs_of(const BufferPlan& plan) {
  BufferPlan inputs = plan;
  inputs.tensors.resize(plan.input_count);
  return inputs;
}

}  // namespace

void DeviceMemory::draw(const std::vector<SetDraw>& draws, unsigned char slack) {
  set_slack(slack);
  draws_ = draws;
  if (drawer_ != nullptr) {
    draw_by_oracle(draws);
    return;
  }
  for (std::size_t i = 0; i < plan_.input_count; ++i) {
    if (task_.inputs[i].values.kind == ValueKind::offsets) {
      draw_offsets_of(i, draws);
    }
  }
  for (std::size_t set = 0; set < draws.size(); ++set) {
    // Inputs that others are drawn from come first.
    for (const bool dependent : {false, true}) {
      for (std::size_t i = 0; i < plan_.input_count; ++i) {
        if ((task_.inputs[i].values.kind == ValueKind::csr_columns) == dependent &&
            plan_.tensors[i].elements > 0 && is_due(task_, draws[set], i)) {
          draw_input(static_cast<int>(set), i, draws[set]);
        }
      }
    }
  }
}

// No secret: it is put around the inputs of all sides whenever it changes.
void DeviceMemory::set_slack(unsigned char slack) {
  if (slack_ == slack) {
    return;
  }
  slack_ = slack;
  for (int set = 0; set < plan_.sets; ++set) {
    for (std::size_t i = 0; i < plan_.input_count; ++i) {
      fill_slack(drawn_region(set, i), plan_.tensors[i], slack);
      for (const Side side : both_sides) {
        fill_slack(region(side, set, i), plan_.tensors[i], slack);
      }
    }
  }
}

void DeviceMemory::fill_slack(cuda::Pointer region, const TensorPlan& tensor, unsigned char slack) {
  const std::size_t end = tensor.data_offset + tensor.bytes;
  const cuda::Driver& driver = gpu_.driver();
  must(driver.set_bytes(region, slack, tensor.data_offset, gpu_.stream()), "filling");
  must(driver.set_bytes(region + end, slack, tensor.region_bytes - end, gpu_.stream()), "filling");
}

void DeviceMemory::draw_by_oracle(const std::vector<SetDraw>& draws) {
  must(gpu_.synchronize(), "filling");
  std::vector<int> descriptors;
  descriptors.reserve(drawn_.size());
  for (const DeviceBlock& block : drawn_) {
    descriptors.push_back(block.descriptor());
  }
  trouble_.note(drawer_->draw_into(inputs_of(plan_), {id_, descriptors}, draws));
}

void DeviceMemory::draw_input(int set, std::size_t index, const SetDraw& draw) {
  const TensorPlan& tensor = plan_.tensors[index];
  const ValueSpec& values = task_.inputs[index].values;
  const Key key = input_key(draw.key, index);
  const int type = type_number(tensor.dtype);
  const auto elements = static_cast<std::uint64_t>(tensor.elements);
  const WholeRange whole = drawn_range(values, plan_.axes, index, draw);
  if (values.kind == ValueKind::offsets) {
    return;  // draw_offsets_of
  }
  if (values.kind == ValueKind::csr_columns) {
    const std::size_t rows = rows_input(task_, index);
    const TensorPlan& offsets = plan_.tensors[rows];
    const auto count = static_cast<std::uint64_t>(offsets.elements - 1);
    must(gpu_.launch("fill_columns", count, drawn(set, index), type, drawn(set, rows),
                     type_number(offsets.dtype), count, whole_range(values, plan_.axes).count, key),
         "drawing inputs");
  } else if (is_floating(tensor.dtype)) {
    must(gpu_.launch("fill_floating", elements / chacha::words + 1, drawn(set, index), type,
                     elements, draw_rule(task_, tensor, index, draw)),
         "drawing inputs");
  } else {
    must(gpu_.launch("fill_whole", elements / chacha::words + 1, drawn(set, index), type, elements,
                     whole, key),
         "drawing inputs");
  }
}

// Row pointers are a running sum: drawn here, sets side by side, and copied.
void DeviceMemory::draw_offsets_of(std::size_t index, const std::vector<SetDraw>& draws) {
  std::vector<std::vector<char>> offsets(draws.size());
  parallel_parts(draws.size(), 1, [&](std::size_t begin, std::size_t end) {
    for (std::size_t set = begin; set < end; ++set) {
      offsets[set] = draw_offsets(task_, plan_, index, draws[set]);
    }
  });
  for (std::size_t set = 0; set < draws.size(); ++set) {
    must(gpu_.driver().copy_to_device(drawn(static_cast<int>(set), index), offsets[set].data(),
                                      offsets[set].size(), gpu_.stream()),
         "copying row pointers");
  }
  must(gpu_.synchronize(), "copying row pointers");
}

}  // namespace kernelpro

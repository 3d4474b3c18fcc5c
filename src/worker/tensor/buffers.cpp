#include "worker/tensor/buffers.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "common/base/file.hpp"
#include "common/base/secret.hpp"
#include "kernelpro/candidate.h"

#ifndef F_SEAL_FUTURE_WRITE
#define F_SEAL_FUTURE_WRITE 0x0010
#endif

namespace kernelpro {

namespace {

std::size_t page_bytes() {
  return static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
}

Status add_tensor(BufferPlan& plan, MemoryUnits units, const std::string& name, DType dtype,
                  const std::vector<Formula>& shape, bool output) {
  KP_LET(std::vector<std::int64_t> extents, evaluate_shape(shape, plan.axes));
  TensorPlan tensor;
  tensor.name = name;
  tensor.dtype = dtype;
  tensor.shape = std::move(extents);
  tensor.output = output;
  tensor.elements = 1;
  for (const std::int64_t extent : tensor.shape) {
    tensor.elements *= static_cast<std::size_t>(extent);
  }
  tensor.bytes = tensor.elements * size_of(dtype);
  // One alignment unit of slack in front at least, so that a write one byte too low is seen.
  const std::size_t data = round_up(std::max<std::size_t>(tensor.bytes, 1), units.alignment);
  tensor.region_bytes = round_up(data + units.alignment, units.page);
  tensor.data_offset = tensor.region_bytes - data;
  std::size_t& stride = output ? plan.output_stride : plan.input_stride;
  tensor.region_offset = stride;
  stride += tensor.region_bytes;
  plan.set_bytes += tensor.bytes;
  if (!output) {
    ++plan.input_count;
  }
  plan.tensors.push_back(std::move(tensor));
  return {};
}

Status add_outputs(BufferPlan& plan, MemoryUnits units, const Task& task, PlanKind kind) {
  for (const TensorSpec& output : task.outputs) {
    if (kind == PlanKind::candidate) {
      KP_TRY(add_tensor(plan, units, output.name, output.dtype, output.shape, true));
    } else if (output.selects.empty()) {
      const DType dtype = is_floating(output.dtype) ? DType::f64 : output.dtype;
      KP_TRY(add_tensor(plan, units, output.name, dtype, output.shape, true));
    }
  }
  if (kind == PlanKind::oracle) {
    for (const Selection& selection : task.selections) {
      KP_TRY(add_tensor(plan, units, selection.name, DType::f64, selection.shape, true));
    }
  }
  return {};
}

std::vector<double> draw_scalars(const Task& task, const Key& key) {
  KeyedRandom random(key);
  std::vector<double> out;
  for (const ScalarSpec& scalar : task.scalars) {
    const double value = scalar.low + (scalar.high - scalar.low) * random.unit();
    switch (scalar.dtype) {
      case DType::f64:
        out.push_back(value);
        break;
      case DType::i64:
      case DType::i32:
      case DType::i16:
      case DType::i8:
      case DType::u8:
        out.push_back(static_cast<double>(static_cast<std::int64_t>(value)));
        break;
      default:
        out.push_back(static_cast<double>(static_cast<float>(value)));
    }
  }
  return out;
}

std::uint8_t dlpack_code(DType dtype) {
  switch (dtype) {
    case DType::f64:
    case DType::f32:
    case DType::f16:
      return KP_FLOAT;
    case DType::bf16:
      return KP_BFLOAT;
    case DType::u8:
      return KP_UINT;
    default:
      return KP_INT;
  }
}

// The end of the data counted from the region's start.
std::size_t data_end(const TensorPlan& tensor) {
  return tensor.data_offset + tensor.bytes;
}

char* region_of(const BufferPlan& plan, const Arena& arena, int set, const TensorPlan& tensor) {
  return arena.data() + static_cast<std::size_t>(set) * plan.output_stride + tensor.region_offset;
}

}  // namespace

MemoryUnits host_units() {
  return {page_bytes(), 64};
}

Result<BufferPlan> plan_buffers(const Task& task, const Axes& axes, int sets, const Key& scalar_key,
                                PlanKind kind, MemoryUnits units) {
  BufferPlan plan;
  plan.axes = axes;
  plan.sets = sets;
  plan.scalars = draw_scalars(task, scalar_key);
  for (const AxisSpec& axis : task.axes) {
    plan.axis_values.push_back(axes.at(axis.name));
  }
  for (const TensorSpec& input : task.inputs) {
    KP_TRY(add_tensor(plan, units, input.name, input.dtype, input.shape, false));
  }
  KP_TRY(add_outputs(plan, units, task, kind));
  if (plan.tensors.size() > runner::max_tensors || plan.scalars.size() > runner::max_values ||
      plan.axis_values.size() > runner::max_values) {
    return make_error(ErrorKind::bad_input,
                      "a task may have at most 64 tensors, 16 scalars and 16 axes", task.name);
  }
  return plan;
}

void redraw_scalars(const Task& task, BufferPlan& plan, const Key& scalar_key) {
  plan.scalars = draw_scalars(task, scalar_key);
}

runner::Layout runner_layout(const BufferPlan& plan, int threads) {
  runner::Layout layout{};
  layout.sets = static_cast<std::uint32_t>(plan.sets);
  layout.tensor_count = static_cast<std::uint32_t>(plan.tensors.size());
  layout.scalar_count = static_cast<std::uint32_t>(plan.scalars.size());
  layout.axis_count = static_cast<std::uint32_t>(plan.axis_values.size());
  layout.threads = threads;
  layout.populate = 1;
  layout.input_stride = plan.input_stride;
  layout.output_stride = plan.output_stride;
  std::copy(plan.scalars.begin(), plan.scalars.end(), layout.scalars);
  std::copy(plan.axis_values.begin(), plan.axis_values.end(), layout.axes);
  for (std::size_t i = 0; i < plan.tensors.size(); ++i) {
    const TensorPlan& tensor = plan.tensors[i];
    runner::TensorPlace& place = layout.tensors[i];
    place.code = dlpack_code(tensor.dtype);
    place.bits = static_cast<std::uint8_t>(8 * size_of(tensor.dtype));
    place.rank = static_cast<std::uint16_t>(tensor.shape.size());
    place.output = tensor.output ? 1 : 0;
    std::int64_t stride = 1;
    for (std::size_t axis = tensor.shape.size(); axis-- > 0;) {
      place.shape[axis] = tensor.shape[axis];
      place.strides[axis] = stride;
      stride *= tensor.shape[axis];
    }
    place.region_offset = tensor.region_offset;
    place.region_bytes = tensor.region_bytes;
    place.data_offset = tensor.data_offset;
  }
  return layout;
}

Result<Arena> Arena::create(std::size_t bytes, bool read_only_elsewhere) {
  Arena arena;
  arena.size_ = std::max(round_up(bytes, page_bytes()), page_bytes());
  arena.fd_ = UniqueFd(memfd_create("kernelpro", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!arena.fd_.valid() || ftruncate(arena.fd_.get(), static_cast<off_t>(arena.size_)) != 0) {
    return errno_error("making a shared buffer of " + std::to_string(bytes) + " bytes");
  }
  void* data = mmap(nullptr, arena.size_, PROT_READ | PROT_WRITE, MAP_SHARED, arena.fd_.get(), 0);
  if (data == MAP_FAILED) {
    return errno_error("mapping a shared buffer of " + std::to_string(bytes) + " bytes");
  }
  arena.data_ = static_cast<char*>(data);
  const int seals = F_SEAL_SHRINK | F_SEAL_GROW | (read_only_elsewhere ? F_SEAL_FUTURE_WRITE : 0);
  if (fcntl(arena.fd_.get(), F_ADD_SEALS, seals | F_SEAL_SEAL) != 0) {
    return errno_error("sealing a shared buffer");
  }
  return arena;
}

Arena::Arena(Arena&& other) noexcept
    : fd_(std::move(other.fd_)),
      data_(std::exchange(other.data_, nullptr)),
      size_(std::exchange(other.size_, 0)) {}

Arena& Arena::operator=(Arena&& other) noexcept {
  std::swap(fd_, other.fd_);
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  return *this;
}

Arena::~Arena() {
  if (data_ != nullptr) {
    munmap(data_, size_);
  }
}

void poison_outputs(const BufferPlan& plan, const Arena& outputs, int set) {
  std::memset(outputs.data() + static_cast<std::size_t>(set) * plan.output_stride, poison_byte,
              plan.output_stride);
}

bool is_poison(const char* data, std::size_t bytes) {
  // Compared with itself shifted by one: one vectorized pass of the C library.
  return bytes == 0 || (static_cast<unsigned char>(data[0]) == poison_byte &&
                        std::memcmp(data, data + 1, bytes - 1) == 0);
}

std::vector<GuardBreach> find_breaches(const BufferPlan& plan, const Arena& outputs, int set) {
  std::vector<GuardBreach> breaches;
  for (std::size_t i = plan.input_count; i < plan.tensors.size(); ++i) {
    const TensorPlan& tensor = plan.tensors[i];
    const char* region = region_of(plan, outputs, set, tensor);
    for (std::size_t at = tensor.data_offset; at-- > 0;) {
      if (static_cast<unsigned char>(region[at]) != poison_byte) {
        breaches.push_back(
            {tensor.name,
             static_cast<std::int64_t>(at) - static_cast<std::int64_t>(tensor.data_offset), true});
        break;
      }
    }
    for (std::size_t at = data_end(tensor); at < tensor.region_bytes; ++at) {
      if (static_cast<unsigned char>(region[at]) != poison_byte) {
        breaches.push_back({tensor.name, static_cast<std::int64_t>(at - data_end(tensor)), false});
        break;
      }
    }
  }
  return breaches;
}

bool still_poisoned(const BufferPlan& plan, const Arena& outputs, int set) {
  const char* begin = outputs.data() + static_cast<std::size_t>(set) * plan.output_stride;
  return is_poison(begin, plan.output_stride);
}

}  // namespace kernelpro

#include "runner/device.hpp"

#include <cstdint>

namespace kernelpro::runner {

namespace {

void* as_address(cuda::Pointer pointer) {
  return reinterpret_cast<void*>(static_cast<std::uintptr_t>(pointer));
}

}  // namespace

// Leaves the current function with the driver's code unless it is success.
#define KP_CUDA(call)                                                  \
  do {                                                                 \
    if (const cuda::Code kp_code = (call); kp_code != cuda::success) { \
      return kp_code;                                                  \
    }                                                                  \
  } while (false)

cuda::Code Device::set_up(const cuda::Driver& driver) {
  cuda::Device device = 0;
  cuda::Context context = nullptr;
  KP_CUDA(driver.init(0));
  KP_CUDA(driver.device_get(&device, 0));
  KP_CUDA(driver.primary_retain(&context, device));
  KP_CUDA(driver.context_set(context));
  KP_CUDA(driver.stream_create(&stream_, cuda::non_blocking));
  KP_CUDA(driver.event_create(&begin_, 0));
  KP_CUDA(driver.event_create(&end_, 0));
  KP_CUDA(driver.event_record(begin_, stream_));
  KP_CUDA(driver.event_record(end_, stream_));
  return driver.context_synchronize();
}

Status Device::open() {
  KP_LET(const cuda::Driver* loaded, cuda::load_driver());
  if (const cuda::Code code = set_up(*loaded); code != cuda::success) {
    return cuda::driver_error(*loaded, code, "opening the GPU for a runner");
  }
  driver_ = loaded;
  return {};
}

void Device::describe(CallArguments& out) const {
  out.context.device_type = KP_CUDA;
  out.context.stream = stream_;
}

cuda::Code Device::attach(const Layout& layout, const std::vector<int>& descriptors) {
  release();
  const std::size_t tensors = layout.tensor_count + (layout.workspace_bytes > 0 ? 1 : 0);
  const std::size_t gates = layout.gate_bytes > 0 ? 1 : 0;
  if (descriptors.size() < layout.sets * tensors + gates) {
    return cuda::invalid_value;
  }
  layout_ = layout;
  CallArguments blank;
  describe_call(layout_, blank);
  describe(blank);
  calls_.assign(layout.sets, blank);
  for (std::size_t set = 0; set < layout.sets; ++set) {
    KP_CUDA(map_set(set, descriptors));
  }
  return gates == 0
             ? cuda::success
             : map_region(descriptors[layout.sets * tensors], layout.gate_bytes, true, gate_);
}

cuda::Code Device::map_set(std::size_t set, const std::vector<int>& descriptors) {
  CallArguments& call = calls_[set];
  for (std::size_t i = 0; i < layout_.tensor_count; ++i) {
    const TensorPlace& place = layout_.tensors[i];
    cuda::Pointer region = 0;
    KP_CUDA(map_region(descriptors[set * layout_.tensor_count + i], place.region_bytes,
                       place.output != 0, region));
    call.tensors[i].data = as_address(region + place.data_offset);
  }
  if (layout_.workspace_bytes > 0) {
    cuda::Pointer region = 0;
    const std::size_t tensors = std::size_t{layout_.sets} * layout_.tensor_count;
    KP_CUDA(map_region(descriptors[tensors + set], layout_.workspace_stride, true, region));
    call.context.workspace = as_address(region + layout_.workspace_offset);
    call.context.workspace_bytes = layout_.workspace_bytes;
  }
  if (layout_.state_bytes > 0) {
    cuda::Pointer state = 0;
    KP_CUDA(allocate_poisoned(layout_.state_bytes, state));
    states_.push_back(state);
    call.context.state = as_address(state);
    call.context.state_bytes = layout_.state_bytes;
  }
  return cuda::success;
}

cuda::Code Device::map_region(int descriptor, std::size_t bytes, bool writable,
                              cuda::Pointer& region) {
  Mapping mapping;
  mapping.bytes = bytes;
  mapping.reserved = bytes + 2 * layout_.guard_bytes;
  cuda::AllocationHandle handle = 0;
  KP_CUDA(driver_->memory_import(&handle,
                                 reinterpret_cast<void*>(static_cast<std::intptr_t>(descriptor)),
                                 cuda::file_descriptor_handle));
  KP_CUDA(driver_->address_reserve(&mapping.base, mapping.reserved, 0, 0, 0));
  mapping.region = mapping.base + layout_.guard_bytes;
  KP_CUDA(driver_->memory_map(mapping.region, bytes, 0, handle, 0));
  mappings_.push_back(mapping);
  // The mapping keeps the memory; the handle would only be a way to map it again.
  KP_CUDA(driver_->memory_release(handle));
  cuda::AccessDescription access;
  access.rights = writable ? cuda::read_write : cuda::read_only;
  KP_CUDA(driver_->memory_access(mapping.region, bytes, &access, 1));
  region = mapping.region;
  return cuda::success;
}

void Device::release() {
  if (!mappings_.empty()) {
    driver_->context_synchronize();
  }
  for (const Mapping& mapping : mappings_) {
    driver_->memory_unmap(mapping.region, mapping.bytes);
    driver_->address_free(mapping.base, mapping.reserved);
  }
  for (const cuda::Pointer state : states_) {
    driver_->free(state);
  }
  gate_ = 0;
  mappings_.clear();
  states_.clear();
  calls_.clear();
}

cuda::Code Device::start() {
  return driver_->event_record(begin_, stream_);
}

cuda::Code Device::stop(std::int64_t& elapsed_ns) {
  KP_CUDA(driver_->event_record(end_, stream_));
  return finish(elapsed_ns);
}

cuda::Code Device::close_gate(std::uint32_t number) {
  if (gate_ == 0) {
    return cuda::invalid_value;
  }
  constexpr unsigned until_equal = 1;  // CU_STREAM_WAIT_VALUE_EQ
  KP_CUDA(driver_->stream_wait_value(stream_, gate_ + gate_opened_at, number, until_equal));
  return start();
}

cuda::Code Device::mark_passed(std::uint32_t number) {
  KP_CUDA(driver_->event_record(end_, stream_));
  return driver_->stream_write_value(stream_, gate_ + gate_passed_at, number, 0);
}

cuda::Code Device::finish(std::int64_t& elapsed_ns) {
  KP_CUDA(driver_->context_synchronize());
  float milliseconds = 0;
  KP_CUDA(driver_->event_elapsed(&milliseconds, begin_, end_));
  elapsed_ns = static_cast<std::int64_t>(static_cast<double>(milliseconds) * 1e6);
  return cuda::success;
}

cuda::Code Device::allocate_poisoned(std::size_t bytes, cuda::Pointer& out) {
  constexpr unsigned char poison = 0xff;
  KP_CUDA(driver_->allocate(&out, bytes));
  return driver_->set_bytes(out, poison, bytes, stream_);
}

cuda::Code Device::allocate_scratch(const Library& library, CallArguments& call) {
  const auto tensors = static_cast<std::int32_t>(layout_.tensor_count);
  cuda::Pointer memory = 0;
  if (library.workspace != nullptr) {
    call.context.workspace_bytes = library.workspace(&call.context, call.tensors.data(), tensors);
  }
  if (call.context.workspace_bytes > 0) {
    KP_CUDA(allocate_poisoned(call.context.workspace_bytes, memory));
    call.context.workspace = as_address(memory);
  }
  if (library.state != nullptr && library.prepare != nullptr) {
    call.context.state_bytes = library.state(&call.context, call.tensors.data(), tensors);
  }
  if (call.context.state_bytes > 0) {
    KP_CUDA(allocate_poisoned(call.context.state_bytes, memory));
    call.context.state = as_address(memory);
  }
  return cuda::success;
}

cuda::Code Device::lay_out(const Layout& layout, const char* inputs, const Library& library) {
  layout_ = layout;
  calls_.assign(1, CallArguments{});
  CallArguments& call = calls_.front();
  describe_call(layout_, call);
  describe(call);
  for (std::size_t i = 0; i < layout_.tensor_count; ++i) {
    const TensorPlace& place = layout_.tensors[i];
    cuda::Pointer region = 0;
    KP_CUDA(allocate_poisoned(place.region_bytes, region));
    if (place.output == 0) {
      KP_CUDA(driver_->copy_to_device(region, inputs + place.region_offset, place.region_bytes,
                                      stream_));
    }
    call.tensors[i].data = as_address(region + place.data_offset);
  }
  KP_CUDA(allocate_scratch(library, call));
  int cache_bytes = 0;
  KP_CUDA(driver_->device_attribute(&cache_bytes, cuda::l2_cache_bytes, 0));
  sweeper_bytes_ = 2 * static_cast<std::size_t>(cache_bytes);
  return driver_->allocate(&sweeper_, sweeper_bytes_);
}

cuda::Code Device::begin_range(bool profiled) {
  KP_CUDA(driver_->set_bytes(sweeper_, 0, sweeper_bytes_, stream_));
  KP_CUDA(driver_->context_synchronize());
  return profiled ? driver_->profiler_start() : cuda::success;
}

cuda::Code Device::end_range(bool profiled) {
  KP_CUDA(driver_->context_synchronize());
  return profiled ? driver_->profiler_stop() : cuda::success;
}

#undef KP_CUDA

}  // namespace kernelpro::runner

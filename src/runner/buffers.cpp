#include "runner/buffers.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <cstring>

namespace kernelpro::runner {

namespace {

constexpr std::size_t guard_pages = 4;

std::size_t page_bytes() {
  return static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
}

std::size_t guard_bytes() {
  return guard_pages * page_bytes();
}

std::size_t round_to_page(std::size_t bytes) {
  const std::size_t page = page_bytes();
  return (bytes + page - 1) / page * page;
}

// What one state takes, so that its beginning is aligned where its end is.
std::size_t state_room(std::size_t bytes) {
  constexpr std::size_t alignment = 64;
  return (bytes + alignment - 1) / alignment * alignment;
}

std::size_t reservation(const Layout& layout) {
  std::size_t set = 0;
  for (std::uint32_t i = 0; i < layout.tensor_count; ++i) {
    set += layout.tensors[i].region_bytes + guard_bytes();
  }
  if (layout.workspace_bytes > 0) {
    set += layout.workspace_stride + guard_bytes();
  }
  return layout.sets * set + guard_bytes();
}

}  // namespace

void describe_call(const Layout& layout, CallArguments& out) {
  kp_context& context = out.context;
  context.abi_version = KP_ABI_VERSION;
  context.device_type = KP_CPU;
  context.threads = layout.threads;
  context.scalars = layout.scalars;
  context.scalar_count = static_cast<std::int32_t>(layout.scalar_count);
  context.axes = layout.axes;
  context.axis_count = static_cast<std::int32_t>(layout.axis_count);
  for (std::uint32_t i = 0; i < layout.tensor_count; ++i) {
    const TensorPlace& place = layout.tensors[i];
    out.tensors[i] = kp_tensor{nullptr, kp_dtype{place.code, place.bits, 1},
                               static_cast<std::int32_t>(place.rank), place.shape, place.strides};
  }
}

bool Buffers::attach(const Layout& layout, int inputs, int outputs, int workspace) {
  release();
  layout_ = layout;
  CallArguments blank;
  describe_call(layout_, blank);
  reserved_ = reservation(layout);
  void* base =
      mmap(nullptr, reserved_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (base == MAP_FAILED) {
    reserved_ = 0;
    return false;
  }
  base_ = static_cast<char*>(base);
  next_ = base_ + guard_bytes();
  if (layout.state_bytes > 0 && !map_states()) {
    return false;
  }
  calls_.assign(layout.sets, blank);
  for (std::size_t set = 0; set < layout.sets; ++set) {
    if (!map_set(set, inputs, outputs, workspace)) {
      return false;
    }
  }
  return true;
}

// As workspaces: each ends at pages that cannot be touched, and holds bytes that nobody may count
// on, other ones from set to set.
bool Buffers::map_states() {
  constexpr std::uint64_t most_bytes = std::uint64_t{1} << 40U;
  constexpr std::array<int, 2> unwritten = {0xff, 0x7e};
  if (layout_.state_bytes > most_bytes) {
    return false;
  }
  const std::size_t room = state_room(layout_.state_bytes);
  state_stride_ = round_to_page(room) + guard_bytes();
  states_bytes_ = layout_.sets * state_stride_;
  void* states =
      mmap(nullptr, states_bytes_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (states == MAP_FAILED) {
    states_bytes_ = 0;
    return false;
  }
  states_ = static_cast<char*>(states);
  for (std::size_t set = 0; set < layout_.sets; ++set) {
    char* const begin = states_ + set * state_stride_;
    if (mmap(begin, round_to_page(room), PROT_READ | PROT_WRITE,
             MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == MAP_FAILED) {
      return false;
    }
    std::memset(begin, unwritten[set % unwritten.size()], round_to_page(room));
  }
  return true;
}

bool Buffers::map_set(std::size_t set, int inputs, int outputs, int workspace) {
  CallArguments& call = calls_[set];
  for (std::uint32_t i = 0; i < layout_.tensor_count; ++i) {
    const TensorPlace& place = layout_.tensors[i];
    const bool output = place.output != 0;
    const std::size_t stride = output ? layout_.output_stride : layout_.input_stride;
    char* region = map_region(output ? outputs : inputs, set * stride + place.region_offset,
                              place.region_bytes, output);
    if (region == nullptr) {
      return false;
    }
    call.tensors[i].data = region + place.data_offset;
  }
  if (layout_.workspace_bytes > 0) {
    char* region =
        map_region(workspace, set * layout_.workspace_stride, layout_.workspace_stride, true);
    if (region == nullptr) {
      return false;
    }
    call.context.workspace = region + layout_.workspace_offset;
    call.context.workspace_bytes = layout_.workspace_bytes;
  }
  if (states_ != nullptr) {
    const std::size_t room = state_room(layout_.state_bytes);
    call.context.state = states_ + set * state_stride_ + round_to_page(room) - room;
    call.context.state_bytes = layout_.state_bytes;
  }
  return true;
}

char* Buffers::map_region(int fd, std::size_t offset, std::size_t bytes, bool writable) {
  const int protection = writable ? PROT_READ | PROT_WRITE : PROT_READ;
  const int flags = MAP_SHARED | MAP_FIXED | (layout_.populate != 0 ? MAP_POPULATE : 0);
  void* region = mmap(next_, bytes, protection, flags, fd, static_cast<off_t>(offset));
  if (region == MAP_FAILED) {
    return nullptr;
  }
  next_ += bytes + guard_bytes();
  return static_cast<char*>(region);
}

void Buffers::locate(std::uint64_t address, Reply& reply) const {
  for (const CallArguments& call : calls_) {
    for (std::uint32_t i = 0; i < layout_.tensor_count; ++i) {
      const TensorPlace& place = layout_.tensors[i];
      const auto region = reinterpret_cast<std::uint64_t>(call.tensors[i].data) - place.data_offset;
      if (address + guard_bytes() < region ||
          address >= region + place.region_bytes + guard_bytes()) {
        continue;
      }
      reply.fault_tensor = static_cast<std::int32_t>(i);
      if (address < region) {
        reply.fault_place = FaultPlace::before;
      } else {
        reply.fault_place =
            address < region + place.region_bytes ? FaultPlace::inside : FaultPlace::after;
      }
      // Guards are shared by neighbors: being past the end is the commoner mistake.
      if (reply.fault_place != FaultPlace::before) {
        return;
      }
    }
  }
}

void Buffers::release() {
  if (base_ != nullptr) {
    munmap(base_, reserved_);
  }
  if (states_ != nullptr) {
    munmap(states_, states_bytes_);
  }
  base_ = nullptr;
  states_ = nullptr;
  calls_.clear();
}

}  // namespace kernelpro::runner

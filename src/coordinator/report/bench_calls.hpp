// Parts of an exported bench.cpp that are the same for every task: buffers and calls.
#pragma once

#include <string_view>

namespace kernelpro {

// The tensors of every call of a round.
inline constexpr std::string_view bench_buffers = R"bench(
// ---- buffers ------------------------------------------------------------------------------------

constexpr std::size_t alignment = 64;

std::size_t round_up(std::size_t bytes, std::size_t unit_bytes) {
  return (bytes + unit_bytes - 1) / unit_bytes * unit_bytes;
}

// Memory that is there before the clock starts. Shared mappings have pages of the plain size, which
// is how tensors and workspace lay when the certificate was made; prepared state lay in private
// memory.
char* map_memory(std::size_t bytes, int sharing) {
  if (bytes == 0) {
    return nullptr;
  }
  void* data = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                    sharing | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
  if (data == MAP_FAILED) {
    fail("no memory for " + std::to_string(bytes) + " bytes of buffers");
  }
  return static_cast<char*>(data);
}

// `count` sets of a shape's tensors. Each tensor ends where a page ends.
class Sets {
 public:
  Sets(const Shape& shape, std::size_t count) : shape_(shape), count_(count) {
    const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    for (std::size_t t = 0; t < tensors.size(); ++t) {
      std::size_t elements = 1;
      for (const std::int64_t extent : shape.extents[t]) {
        elements *= static_cast<std::size_t>(extent);
      }
      std::vector<std::int64_t> strides(shape.extents[t].size(), 1);
      for (std::size_t axis = strides.size(); axis-- > 1;) {
        strides[axis - 1] = strides[axis] * shape.extents[t][axis];
      }
      const std::size_t data = round_up(elements * size_of(tensors[t].type), alignment);
      std::size_t& stride = is_output(t) ? output_stride_ : input_stride_;
      stride += round_up(data + alignment, page);
      elements_.push_back(elements);
      strides_.push_back(strides);
      offsets_.push_back(stride - data);
    }
    inputs_ = map_memory(count * input_stride_, MAP_SHARED);
    outputs_ = map_memory(output_bytes(), MAP_SHARED);
  }
  Sets(const Sets&) = delete;
  Sets& operator=(const Sets&) = delete;
  ~Sets() {
    munmap(inputs_, count_ * input_stride_);
    munmap(outputs_, output_bytes());
  }

  static bool is_output(std::size_t t) { return tensors[t].kind == Kind::none; }

  std::size_t count() const { return count_; }
  std::size_t elements(std::size_t t) const { return elements_[t]; }
  const char* outputs() const { return outputs_; }
  std::size_t output_bytes() const { return count_ * output_stride_; }

  char* data(std::size_t set, std::size_t t) const {
    return is_output(t) ? outputs_ + set * output_stride_ + offsets_[t]
                        : inputs_ + set * input_stride_ + offsets_[t];
  }

  // Where `saved`, a copy of the outputs, has output `t` of `set`.
  const char* saved_data(const std::vector<char>& saved, std::size_t set, std::size_t t) const {
    return saved.data() + set * output_stride_ + offsets_[t];
  }

  std::vector<kp_tensor> call_tensors(std::size_t set) const {
    std::vector<kp_tensor> out;
    for (std::size_t t = 0; t < tensors.size(); ++t) {
      out.push_back({data(set, t), dtype_of(tensors[t].type),
                     static_cast<std::int32_t>(strides_[t].size()), shape_.extents[t].data(),
                     strides_[t].data()});
    }
    return out;
  }

  // New inputs in every set.
  void draw(std::uint64_t seed) {
    in_parallel(count_, [this, seed](std::size_t set) {
      for (const bool columns : {false, true}) {  // columns are drawn to fit their row pointers
        for (std::size_t t = 0; t < tensors.size(); ++t) {
          if (!is_output(t) && (tensors[t].kind == Kind::csr_columns) == columns) {
            draw_input(set, t, random_bits(random_bits(seed, set), t));
          }
        }
      }
    });
  }

  // Outputs start as NaN, so that what a call does not write is seen.
  void poison() {
    in_parallel(count_, [this](std::size_t set) {
      std::memset(outputs_ + set * output_stride_, 0xff, output_stride_);
    });
  }

 private:
  void draw_input(std::size_t set, std::size_t t, std::uint64_t seed) {
    const Tensor& tensor = tensors[t];
    char* to = data(set, t);
    if (tensor.kind == Kind::offsets) {
      draw_offsets(to, tensor.type, elements_[t], shape_.bounds[t], seed);
      return;
    }
    if (tensor.kind == Kind::csr_columns) {
      const auto rows = static_cast<std::size_t>(tensor.rows_of);
      draw_columns(to, tensor.type, data(set, rows), tensors[rows].type, elements_[rows] - 1,
                   shape_.bounds[t], seed);
      return;
    }
    for (std::size_t i = 0; i < elements_[t]; ++i) {
      const std::uint64_t bits = random_bits(seed, i);
      double value = normal(bits);
      if (tensor.kind == Kind::uniform) {
        value = between(tensor, bits);
      } else if (tensor.kind == Kind::index) {
        value = static_cast<double>(below(bits, shape_.bounds[t]));
      }
      store(to, tensor.type, i, value);
    }
  }

  const Shape& shape_;
  std::size_t count_;
  std::size_t input_stride_ = 0;
  std::size_t output_stride_ = 0;
  std::vector<std::size_t> elements_;
  std::vector<std::vector<std::int64_t>> strides_;
  std::vector<std::size_t> offsets_;
  char* inputs_ = nullptr;
  char* outputs_ = nullptr;
};
)bench";

// The two libraries with their calls.
inline constexpr std::string_view bench_calls = R"bench(
// ---- the two sides ------------------------------------------------------------------------------

struct Library {
  std::string name;
  decltype(&kp_launch) launch = nullptr;
  decltype(&kp_workspace) workspace = nullptr;
  decltype(&kp_state) state = nullptr;
  decltype(&kp_prepare) prepare = nullptr;
  cpu_set_t processors{};  // of the thread that calls it
};

cpu_set_t own_processors() {
  cpu_set_t processors;
  CPU_ZERO(&processors);
  sched_getaffinity(0, sizeof processors, &processors);
  return processors;
}

// OpenMP binds the thread that loads or first uses it. So that neither library measures what the
// other's OpenMP did, the thread has the processors that a library gave it only during its calls.
class OnProcessorsOf {
 public:
  explicit OnProcessorsOf(Library& library) : library_(library), outside_(own_processors()) {
    sched_setaffinity(0, sizeof library.processors, &library.processors);
  }
  OnProcessorsOf(const OnProcessorsOf&) = delete;
  OnProcessorsOf& operator=(const OnProcessorsOf&) = delete;
  ~OnProcessorsOf() {
    library_.processors = own_processors();
    sched_setaffinity(0, sizeof outside_, &outside_);
  }

 private:
  Library& library_;
  cpu_set_t outside_;
};

Library open_library(const std::string& name) {
  const auto folder = std::filesystem::read_symlink("/proc/self/exe").parent_path();
  Library library;
  library.name = name;
  library.processors = own_processors();
  void* handle = nullptr;
  {
    const OnProcessorsOf loading(library);
    handle = dlopen((folder / ("lib" + name + ".so")).c_str(), RTLD_NOW | RTLD_LOCAL);
  }
  if (handle == nullptr) {
    fail(std::string(dlerror()) + "; run sh build.sh first");
  }
  library.launch = reinterpret_cast<decltype(&kp_launch)>(dlsym(handle, "kp_launch"));
  library.workspace = reinterpret_cast<decltype(&kp_workspace)>(dlsym(handle, "kp_workspace"));
  library.state = reinterpret_cast<decltype(&kp_state)>(dlsym(handle, "kp_state"));
  library.prepare = reinterpret_cast<decltype(&kp_prepare)>(dlsym(handle, "kp_prepare"));
  if (library.launch == nullptr) {
    fail("lib" + name + ".so does not export kp_launch");
  }
  return library;
}
)bench";

// One side of the comparison, on the CPU.
inline constexpr std::string_view bench_sides = R"bench(
// One library with a call ready for each set.
class Side {
 public:
  Side(Library& library, const Shape& shape, const Sets& sets,
       const std::vector<double>& scalar_values, int threads)
      : library_(library) {
    kp_context context{};
    context.abi_version = KP_ABI_VERSION;
    context.device_type = KP_CPU;
    context.threads = threads;
    context.scalars = scalar_values.data();
    context.scalar_count = static_cast<std::int32_t>(scalar_values.size());
    context.axes = shape.axes.data();
    context.axis_count = static_cast<std::int32_t>(shape.axes.size());
    for (std::size_t set = 0; set < sets.count(); ++set) {
      calls_.push_back({context, sets.call_tensors(set)});
    }
    add_workspace();
    add_state();
  }
  Side(const Side&) = delete;
  Side& operator=(const Side&) = delete;
  ~Side() {
    if (workspace_ != nullptr) {
      munmap(workspace_, workspace_bytes_);
    }
    if (state_ != nullptr) {
      munmap(state_, state_bytes_);
    }
  }

  bool prepares() const { return state_ != nullptr; }

  void prepare() {
    const OnProcessorsOf calling(library_);
    for (const Call& call : calls_) {
      check(library_.prepare(&call.context, call.tensors.data(), count_of(call)), "kp_prepare");
    }
  }

  // Mean nanoseconds of the calls on the sets in that order.
  double time_round(const std::vector<std::size_t>& order) {
    if (workspace_ != nullptr) {
      std::memset(workspace_, 0xff, workspace_bytes_);
    }
    const OnProcessorsOf calling(library_);
    const auto start = std::chrono::steady_clock::now();
    for (const std::size_t set : order) {
      const Call& call = calls_[set];
      const int code = library_.launch(&call.context, call.tensors.data(), count_of(call));
      if (code != 0) {
        check(code, "kp_launch");
      }
    }
    const std::chrono::duration<double, std::nano> passed =
        std::chrono::steady_clock::now() - start;
    return passed.count() / static_cast<double>(order.size());
  }

 private:
  struct Call {
    kp_context context;
    std::vector<kp_tensor> tensors;
  };

  static std::int32_t count_of(const Call& call) {
    return static_cast<std::int32_t>(call.tensors.size());
  }

  void check(int code, const char* function) const {
    if (code != 0) {
      fail(std::string(function) + " of lib" + library_.name + ".so returned " +
           std::to_string(code));
    }
  }

  void add_workspace() {
    if (library_.workspace == nullptr) {
      return;
    }
    const Call& any = calls_.front();
    const std::size_t bytes =
        library_.workspace(&any.context, any.tensors.data(), count_of(any));
    const std::size_t stride = round_up(bytes, alignment);
    workspace_bytes_ = stride * calls_.size();
    workspace_ = map_memory(workspace_bytes_, MAP_SHARED);
    for (std::size_t set = 0; set < calls_.size() && bytes > 0; ++set) {
      calls_[set].context.workspace = workspace_ + set * stride;
      calls_[set].context.workspace_bytes = bytes;
    }
  }

  void add_state() {
    if (library_.state == nullptr || library_.prepare == nullptr) {
      return;
    }
    const Call& any = calls_.front();
    const std::size_t bytes = std::max<std::size_t>(
        library_.state(&any.context, any.tensors.data(), count_of(any)), 1);
    const std::size_t stride = round_up(bytes, static_cast<std::size_t>(sysconf(_SC_PAGESIZE)));
    state_bytes_ = stride * calls_.size();
    state_ = map_memory(state_bytes_, MAP_PRIVATE);
    for (std::size_t set = 0; set < calls_.size(); ++set) {
      calls_[set].context.state = state_ + set * stride;
      calls_[set].context.state_bytes = bytes;
    }
  }

  Library& library_;
  std::vector<Call> calls_;
  char* workspace_ = nullptr;
  std::size_t workspace_bytes_ = 0;
  char* state_ = nullptr;
  std::size_t state_bytes_ = 0;
};
)bench";

}  // namespace kernelpro

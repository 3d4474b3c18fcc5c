// The part of an exported bench.cu that differs from a bench.cpp: calls on a GPU.
#pragma once

#include <string_view>

namespace kernelpro {

inline constexpr std::string_view bench_device_sides = R"bench(
void need(cudaError_t code, const char* what) {
  if (code != cudaSuccess) {
    fail(std::string(what) + ": " + cudaGetErrorString(code));
  }
}

// One library with a call ready for each set, in memory of its own on the GPU. What is drawn and
// compared lies in the sets.
class Side {
 public:
  Side(Library& library, const Shape& shape, const Sets& sets,
       const std::vector<double>& scalar_values, int threads)
      : library_(library), sets_(sets) {
    need(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "a stream");
    need(cudaEventCreate(&begin_), "an event");
    need(cudaEventCreate(&end_), "an event");
    kp_context context{};
    context.abi_version = KP_ABI_VERSION;
    context.device_type = KP_CUDA;
    context.threads = threads;
    context.stream = stream_;
    context.scalars = scalar_values.data();
    context.scalar_count = static_cast<std::int32_t>(scalar_values.size());
    context.axes = shape.axes.data();
    context.axis_count = static_cast<std::int32_t>(shape.axes.size());
    for (std::size_t set = 0; set < sets.count(); ++set) {
      calls_.push_back({context, sets.call_tensors(set)});
      for (std::size_t t = 0; t < tensors.size(); ++t) {
        calls_.back().tensors[t].data = allocate(bytes_of(t));
      }
    }
    add_workspace();
    int cache = 0;
    need(cudaDeviceGetAttribute(&cache, cudaDevAttrL2CacheSize, 0), "the size of the cache");
    evictor_bytes_ = 2 * static_cast<std::size_t>(cache);
    evictor_ = allocate(evictor_bytes_);
  }
  Side(const Side&) = delete;
  Side& operator=(const Side&) = delete;
  ~Side() {
    for (void* memory : allocated_) {
      cudaFree(memory);
    }
    cudaEventDestroy(begin_);
    cudaEventDestroy(end_);
    cudaStreamDestroy(stream_);
  }

  bool prepares() const { return false; }
  void prepare() {}

  // Mean nanoseconds of the calls on the sets in that order, on the GPU's clock.
  double time_round(const std::vector<std::size_t>& order) {
    for (std::size_t set = 0; set < calls_.size(); ++set) {
      for (std::size_t t = 0; t < tensors.size(); ++t) {
        need(cudaMemcpy(calls_[set].tensors[t].data, sets_.data(set, t), bytes_of(t),
                        cudaMemcpyHostToDevice),
             "copying to the GPU");
      }
      if (calls_[set].context.workspace != nullptr) {
        need(cudaMemset(calls_[set].context.workspace, 0xff, calls_[set].context.workspace_bytes),
             "filling the workspace");
      }
    }
    need(cudaMemset(evictor_, 0, evictor_bytes_), "flushing the cache");
    need(cudaDeviceSynchronize(), "waiting for the GPU");
    need(cudaEventRecord(begin_, stream_), "the clock");
    for (const std::size_t set : order) {
      const Call& call = calls_[set];
      const int code = library_.launch(&call.context, call.tensors.data(),
                                       static_cast<std::int32_t>(call.tensors.size()));
      if (code != 0) {
        fail("kp_launch of lib" + library_.name + ".so returned " + std::to_string(code));
      }
    }
    need(cudaEventRecord(end_, stream_), "the clock");
    need(cudaDeviceSynchronize(), ("running lib" + library_.name + ".so").c_str());
    float milliseconds = 0;
    need(cudaEventElapsedTime(&milliseconds, begin_, end_), "the clock");
    for (std::size_t set = 0; set < calls_.size(); ++set) {
      for (std::size_t t = 0; t < tensors.size(); ++t) {
        if (Sets::is_output(t)) {
          need(cudaMemcpy(sets_.data(set, t), calls_[set].tensors[t].data, bytes_of(t),
                          cudaMemcpyDeviceToHost),
               "copying from the GPU");
        }
      }
    }
    return 1e6 * static_cast<double>(milliseconds) / static_cast<double>(order.size());
  }

 private:
  struct Call {
    kp_context context;
    std::vector<kp_tensor> tensors;
  };

  std::size_t bytes_of(std::size_t t) const {
    return sets_.elements(t) * size_of(tensors[t].type);
  }

  void* allocate(std::size_t bytes) {
    void* memory = nullptr;
    need(cudaMalloc(&memory, std::max<std::size_t>(bytes, 1)), "memory on the GPU");
    allocated_.push_back(memory);
    return memory;
  }

  void add_workspace() {
    for (Call& call : calls_) {
      const std::size_t bytes =
          library_.workspace == nullptr
              ? 0
              : library_.workspace(&call.context, call.tensors.data(),
                                   static_cast<std::int32_t>(call.tensors.size()));
      if (bytes > 0) {
        call.context.workspace = allocate(bytes);
        call.context.workspace_bytes = bytes;
      }
    }
  }

  Library& library_;
  const Sets& sets_;
  cudaStream_t stream_ = nullptr;
  cudaEvent_t begin_ = nullptr;
  cudaEvent_t end_ = nullptr;
  std::vector<Call> calls_;
  std::vector<void*> allocated_;
  void* evictor_ = nullptr;
  std::size_t evictor_bytes_ = 0;
};
)bench";

}  // namespace kernelpro

// Lists, runs and verifies the cases; see README.md.
#include <cuda_profiler_api.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "defects.cuh"

namespace defects {
namespace {

constexpr std::size_t kPoolBytes = 2560 * kMiB;
constexpr std::size_t kFlushBytes = 256 * kMiB;

__device__ std::uint32_t mixed(std::uint64_t key) {
  key ^= key >> 33;
  key *= 0xff51afd7ed558ccdULL;
  key ^= key >> 33;
  key *= 0xc4ceb9fe1a85ec53ULL;
  key ^= key >> 33;
  return static_cast<std::uint32_t>(key);
}

__device__ float uniform(std::uint32_t bits) {
  return static_cast<float>(bits >> 8) * (2.0f / 16777216.0f) - 1.0f;
}

__device__ void put(std::uint8_t& y, std::uint32_t bits) {
  y = static_cast<std::uint8_t>(bits);
}
__device__ void put(std::uint32_t& y, std::uint32_t bits) {
  y = bits;
}
__device__ void put(float& y, std::uint32_t bits) {
  y = uniform(bits);
}
__device__ void put(double& y, std::uint32_t bits) {
  y = uniform(bits);
}
__device__ void put(__half& y, std::uint32_t bits) {
  y = __float2half_rn(uniform(bits));
}
__device__ void put(__nv_bfloat16& y, std::uint32_t bits) {
  y = __float2bfloat16_rn(uniform(bits));
}

template <class T>
__global__ void fill_random(T* data, std::size_t count, std::uint32_t seed) {
  const std::size_t step = std::size_t{gridDim.x} * blockDim.x;
  for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count; i += step) {
    put(data[i], mixed((std::uint64_t{seed} << 40) + i));
  }
}

__global__ void fill_below(std::uint32_t* data, std::size_t count, std::uint32_t seed,
                           std::uint32_t limit) {
  const std::size_t step = std::size_t{gridDim.x} * blockDim.x;
  for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count; i += step) {
    data[i] = mixed((std::uint64_t{seed} << 40) + i) % limit;
  }
}

template <class T>
void fill_with(void* data, std::size_t count, std::uint32_t seed) {
  fill_random<<<2112, 256>>>(static_cast<T*>(data), count, seed);
}

std::size_t size_of(Element element) {
  switch (element) {
    case Element::u8:
      return 1;
    case Element::f16:
    case Element::bf16:
      return 2;
    case Element::f64:
      return 8;
    default:
      return 4;
  }
}

double host_value(std::uint8_t x) {
  return x;
}
double host_value(std::uint32_t x) {
  return x;
}
double host_value(std::int32_t x) {
  return x;
}
double host_value(float x) {
  return x;
}
double host_value(double x) {
  return x;
}
double host_value(__half x) {
  return __half2float(x);
}
double host_value(__nv_bfloat16 x) {
  return __bfloat162float(x);
}

// Calls `what` with a null pointer to the type.
template <class What>
double with_type(Element element, What what) {
  switch (element) {
    case Element::u8:
      return what(static_cast<std::uint8_t*>(nullptr));
    case Element::u32:
      return what(static_cast<std::uint32_t*>(nullptr));
    case Element::i32:
      return what(static_cast<std::int32_t*>(nullptr));
    case Element::f16:
      return what(static_cast<__half*>(nullptr));
    case Element::bf16:
      return what(static_cast<__nv_bfloat16*>(nullptr));
    case Element::f32:
      return what(static_cast<float*>(nullptr));
    case Element::f64:
      return what(static_cast<double*>(nullptr));
  }
  return 0;
}

}  // namespace

void require(cudaError_t error, const char* what, const char* file, int line) {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "%s:%d: %s: %s\n", file, line, what, cudaGetErrorString(error));
  std::exit(1);
}

Pool::Pool() {
  REQUIRE(cudaMalloc(&data_, kPoolBytes));
}

void Pool::restart() {
  used_ = 0;
  filled_ = 0;
}

void* Pool::bytes(std::size_t size) {
  const std::size_t place = used_;
  used_ += (size + 1023) / 1024 * 1024;
  if (used_ > kPoolBytes) {
    std::fprintf(stderr, "a case asks for %zu MiB; the pool has %zu\n", used_ / kMiB,
                 kPoolBytes / kMiB);
    std::exit(1);
  }
  return data_ + place;
}

void Pool::fill(void* data, std::size_t count, Element element) {
  const std::uint32_t seed = ++filled_;
  switch (element) {
    case Element::u8:
      fill_with<std::uint8_t>(data, count, seed);
      break;
    case Element::u32:
    case Element::i32:
      fill_with<std::uint32_t>(data, count, seed);
      break;
    case Element::f16:
      fill_with<__half>(data, count, seed);
      break;
    case Element::bf16:
      fill_with<__nv_bfloat16>(data, count, seed);
      break;
    case Element::f32:
      fill_with<float>(data, count, seed);
      break;
    case Element::f64:
      fill_with<double>(data, count, seed);
      break;
  }
  REQUIRE(cudaGetLastError());
}

std::uint32_t* Pool::random_below(std::size_t count, std::uint32_t limit) {
  auto* data = take<std::uint32_t>(count);
  fill_below<<<2112, 256>>>(data, count, ++filled_, limit);
  REQUIRE(cudaGetLastError());
  return data;
}

namespace {

struct Options {
  std::vector<std::string> names;  // empty: all
  bool list = false;
  bool run = false;
  bool verify = false;
  bool cold = false;
  int launches = 5;
};

Cases all_cases() {
  Cases cases;
  add_uncoalesced_access(cases);
  add_narrow_loads(cases);
  add_narrow_loads_streams(cases);
  add_narrow_loads_rows(cases);
  add_excess_traffic(cases);
  add_bank_conflicts(cases);
  add_register_spills(cases);
  add_occupancy_limiter(cases);
  add_occupancy_limiter_lookups(cases);
  add_block_shortage(cases);
  add_barrier_stalls(cases);
  add_long_scoreboard(cases);
  add_contended_atomics(cases);
  add_tensor_cores_unused(cases);
  add_hmma_where_hgmma(cases);
  add_hmma_where_hgmma_layers(cases);
  add_launch_bound(cases);
  add_host_waits(cases);
  add_divergent_warps(cases);
  add_divergent_warps_rows(cases);
  add_accidental_double(cases);
  add_accidental_double_indices(cases);
  add_slow_arithmetic(cases);
  add_slow_arithmetic_layers(cases);
  add_integer_division(cases);
  add_integer_division_tensors(cases);
  add_repeated_loads(cases);
  add_repeated_loads_tiles(cases);
  add_memory_fences(cases);
  add_memory_fences_queues(cases);
  return cases;
}

const Case* find(const Cases& cases, const std::string& name) {
  for (const Case& each : cases) {
    if (each.name() == name) return &each;
  }
  return nullptr;
}

std::string json_list(const std::vector<std::string>& words) {
  std::string text = "[";
  for (const std::string& word : words) {
    if (text.size() > 1) text += ",";
    text += "\"" + word + "\"";
  }
  return text + "]";
}

void list(const Case& each) {
  std::printf(
      "{\"case\":\"%s\",\"tool\":\"%s\",\"shape\":\"%s\",\"knob\":%g,\"defective\":%s,"
      "\"tempting\":%s,\"twin\":\"%s\",\"also\":%s,\"class\":%s,\"flops\":%.0f,\"bytes\":%.0f,"
      "\"type\":\"%s\"}\n",
      each.name().c_str(), each.tool.c_str(), each.shape.c_str(), each.knob,
      each.defective ? "true" : "false", each.tempting ? "true" : "false", each.twin.c_str(),
      json_list(each.also).c_str(), json_list(each.classes).c_str(), each.flops, each.bytes,
      each.type.c_str());
}

struct Span {
  cudaEvent_t begin{};
  cudaEvent_t end{};
};

void run(const Case& each, Pool& pool, const Options& options, void* flush) {
  pool.restart();
  Work work = each.prepare(pool);
  for (int i = 0; i < 2; ++i) work.unit();
  REQUIRE(cudaGetLastError());
  std::vector<Span> spans(options.launches);
  for (Span& span : spans) {
    REQUIRE(cudaEventCreate(&span.begin));
    REQUIRE(cudaEventCreate(&span.end));
  }
  REQUIRE(cudaDeviceSynchronize());
  REQUIRE(cudaProfilerStart());
  for (Span& span : spans) {
    if (flush != nullptr) REQUIRE(cudaMemsetAsync(flush, 0, kFlushBytes));
    REQUIRE(cudaEventRecord(span.begin));
    work.unit();
    REQUIRE(cudaEventRecord(span.end));
  }
  REQUIRE(cudaGetLastError());
  REQUIRE(cudaDeviceSynchronize());
  REQUIRE(cudaProfilerStop());
  std::vector<float> times;
  for (Span& span : spans) {
    float milliseconds = 0;
    REQUIRE(cudaEventElapsedTime(&milliseconds, span.begin, span.end));
    times.push_back(milliseconds * 1000);
    REQUIRE(cudaEventDestroy(span.begin));
    REQUIRE(cudaEventDestroy(span.end));
  }
  std::sort(times.begin(), times.end());
  if (work.finish) work.finish();
  std::printf("{\"case\":\"%s\",\"median_us\":%.3f,\"min_us\":%.3f,\"launches\":%d}\n",
              each.name().c_str(), times[times.size() / 2], times.front(), options.launches);
  std::fflush(stdout);
}

struct Result {
  std::vector<char> data;
  Output out;
  double error = 0;
};

Result result_of(const Case& each, Pool& pool) {
  pool.restart();
  Work work = each.prepare(pool);
  Result result;
  result.out = work.out;
  const std::size_t size = work.out.count * size_of(work.out.element);
  REQUIRE(cudaMemset(work.out.data, 0, size));
  work.unit();
  REQUIRE(cudaGetLastError());
  REQUIRE(cudaDeviceSynchronize());
  result.data.resize(size);
  REQUIRE(cudaMemcpy(result.data.data(), work.out.data, size, cudaMemcpyDeviceToHost));
  if (work.error) result.error = work.error();
  if (work.finish) work.finish();
  return result;
}

double rms_of(const Result& result) {
  return with_type(result.out.element, [&](const auto* type) {
    const auto* data = reinterpret_cast<decltype(type)>(result.data.data());
    double sum = 0;
    for (std::size_t i = 0; i < result.out.count; ++i) {
      sum += host_value(data[i]) * host_value(data[i]);
    }
    return std::sqrt(sum / static_cast<double>(result.out.count));
  });
}

double distance(const Result& result, const Result& twin, double rms) {
  return with_type(result.out.element, [&](const auto* type) {
    const auto* data = reinterpret_cast<decltype(type)>(result.data.data());
    const auto* other = reinterpret_cast<decltype(type)>(twin.data.data());
    double worst = 0;
    for (std::size_t i = 0; i < result.out.count; ++i) {
      const double a = host_value(data[i]);
      const double b = host_value(other[i]);
      const double error = std::fabs(a - b) / (std::fabs(b) + rms);
      if (!(error <= worst)) worst = error;
      if (std::isnan(worst)) return worst;
    }
    return worst;
  });
}

bool report(const Case& each, const char* problem, double error, double tolerance) {
  std::printf("{\"case\":\"%s\",\"ok\":false,\"problem\":\"%s\",\"error\":%g,\"tolerance\":%g}\n",
              each.name().c_str(), problem, error, tolerance);
  return false;
}

// The latest twin's result, kept because the cases of a shape follow one another.
struct Twin {
  std::string name;
  Result result;
  double rms = 0;
};

// Whether the case computes what its twin computes, and something at all.
bool verified(const Case& each, const Cases& cases, Pool& pool, Twin& latest) {
  const Result result = result_of(each, pool);
  const double tolerance = result.out.tolerance;
  if (!(result.error <= tolerance)) {
    return report(each, "differs from the host's reference", result.error, tolerance);
  }
  const double own_rms = rms_of(result);
  if (!(own_rms > 0) || std::isinf(own_rms)) {
    return report(each, "the result is zero or not finite", own_rms, tolerance);
  }
  const Case* twin = find(cases, each.twin);
  if (twin == nullptr) return true;
  if (latest.name != each.twin) {
    latest.name = each.twin;
    latest.result = result_of(*twin, pool);
    latest.rms = rms_of(latest.result);
  }
  const Result& other = latest.result;
  if (other.out.count != result.out.count || other.out.element != result.out.element) {
    return report(each, "the result has another form than its twin's", 0, tolerance);
  }
  const double error = distance(result, other, latest.rms);
  return error <= tolerance || report(each, "differs from its twin", error, tolerance);
}

bool read_names(const char* text, std::vector<std::string>& names) {
  if (std::strcmp(text, "all") == 0) return true;
  std::string word;
  for (const char* at = text;; ++at) {
    if (*at != ',' && *at != '\0') {
      word += *at;
      continue;
    }
    if (word.empty()) return false;
    names.push_back(word);
    word.clear();
    if (*at == '\0') return true;
  }
}

bool read_options(int argc, char** argv, Options& options) {
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if (word == "--list") {
      options.list = true;
    } else if (word == "--cold") {
      options.cold = true;
    } else if (word == "--verify") {
      options.verify = true;
    } else if (word == "--run" && i + 1 < argc) {
      options.run = true;
      if (!read_names(argv[++i], options.names)) return false;
    } else if (word == "--launches" && i + 1 < argc) {
      options.launches = std::atoi(argv[++i]);
      if (options.launches < 1) return false;
    } else {
      return false;
    }
  }
  return options.list || options.run || options.verify;
}

// Nothing, with a message, if a name is unknown.
std::vector<const Case*> chosen(const Cases& cases, const Options& options) {
  std::vector<const Case*> picked;
  if (options.names.empty()) {
    for (const Case& each : cases) picked.push_back(&each);
    return picked;
  }
  for (const std::string& name : options.names) {
    const Case* each = find(cases, name);
    if (each == nullptr) {
      std::fprintf(stderr, "no case is called %s; --list names them all\n", name.c_str());
      return {};
    }
    picked.push_back(each);
  }
  return picked;
}

int main_of(int argc, char** argv) {
  Options options;
  if (!read_options(argc, argv, options)) {
    std::fprintf(stderr,
                 "usage: defects --list | --run all|CASE[,CASE...] [--launches N] [--cold]"
                 " [--verify] | --verify\n");
    return 1;
  }
  const Cases cases = all_cases();
  const std::vector<const Case*> picked = chosen(cases, options);
  if (picked.empty()) return 2;
  if (options.list) {
    for (const Case* each : picked) list(*each);
    return 0;
  }
  Pool pool;
  if (options.verify) {
    int failures = 0;
    Twin latest;
    for (const Case* each : picked) failures += verified(*each, cases, pool, latest) ? 0 : 1;
    std::printf("{\"verified\":%zu,\"failures\":%d}\n", picked.size(), failures);
    return failures == 0 ? 0 : 3;
  }
  void* flush = nullptr;
  if (options.cold) REQUIRE(cudaMalloc(&flush, kFlushBytes));
  for (const Case* each : picked) run(*each, pool, options, flush);
  return 0;
}

}  // namespace
}  // namespace defects

int main(int argc, char** argv) {
  return defects::main_of(argc, argv);
}

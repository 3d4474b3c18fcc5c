#include "worker/cuda/device_compare.hpp"

#include <algorithm>
#include <bit>
#include <limits>

namespace kernelpro {

int type_number(DType dtype) {
  switch (dtype) {
    case DType::f64:
      return 0;
    case DType::f32:
      return 1;
    case DType::f16:
      return 2;
    case DType::bf16:
      return 3;
    case DType::i64:
      return 4;
    case DType::i32:
      return 5;
    case DType::i16:
      return 6;
    case DType::i8:
      return 7;
    default:
      return 8;
  }
}

void DeviceTrouble::must(cuda::Code code, const char* doing) {
  if (code != cuda::success && !problem_) {
    problem_ = cuda::driver_error(gpu_.driver(), code, doing);
    problem_->kind = ErrorKind::lost;
  }
}

void DeviceTrouble::note(const Status& status) {
  if (!status && !problem_) {
    problem_ = status.error();
  }
}

Status DeviceTrouble::take() {
  const Status found = problem_ ? Status(*problem_) : Status();
  if (problem_ && problem_->kind != ErrorKind::lost) {
    problem_.reset();
  }
  return found;
}

DeviceResults::~DeviceResults() {
  if (room_ != 0) {
    gpu_.driver().free(room_);
  }
}

cuda::Pointer DeviceResults::start(const void* initial, std::size_t bytes, std::size_t room) {
  if (const std::size_t wanted = std::max(bytes, room); wanted > bytes_) {
    if (room_ != 0) {
      gpu_.driver().free(room_);
    }
    room_ = 0;
    bytes_ = 0;
    trouble_.must(gpu_.driver().allocate(&room_, wanted), "making room for results");
    if (room_ == 0) {
      return 0;
    }
    bytes_ = wanted;
  }
  trouble_.must(gpu_.driver().copy_to_device(room_, initial, bytes, gpu_.stream()),
                "clearing results");
  trouble_.must(gpu_.synchronize(), "clearing results");
  return room_;
}

void DeviceResults::read(void* to, std::size_t bytes) {
  trouble_.must(gpu_.driver().copy_to_host(to, room_, bytes, gpu_.stream()), "reading results");
  trouble_.must(gpu_.synchronize(), "reading results");
}

double DeviceComparison::error() const {
  return std::bit_cast<double>(error_bits);
}

namespace {

// As compare_kernels.cuh has it.
struct Compared {
  cuda::Pointer actual;
  cuda::Pointer truth;
  int type;
  int truth_type;
  std::uint64_t elements;
  cuda::Pointer out;
};

struct Batch {
  std::vector<Compared> pairs;
  std::uint64_t elements = 0;
};

}  // namespace

std::vector<DeviceComparison> compare_on_device(Gpu& gpu, DeviceTrouble& trouble,
                                                DeviceResults& results,
                                                const std::vector<ComparedPair>& pairs,
                                                NotFinite not_finite) {
  DeviceComparison blank{};
  blank.worst = std::numeric_limits<std::uint64_t>::max();
  std::vector<DeviceComparison> found(pairs.size(), blank);
  const std::size_t bytes = found.size() * sizeof blank;
  // The results, and behind them the two lists of what is compared.
  const cuda::Pointer out =
      results.start(found.data(), bytes, bytes + pairs.size() * sizeof(Compared));
  if (trouble.any()) {
    for (DeviceComparison& one : found) {
      one.error_bits = std::bit_cast<std::uint64_t>(std::numeric_limits<double>::infinity());
      one.different = 1;
    }
    return found;
  }
  Batch floating;
  Batch whole;
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    const ComparedPair& pair = pairs[i];
    Batch& batch = is_floating(pair.tensor->dtype) ? floating : whole;
    batch.elements += pair.tensor->elements;
    batch.pairs.push_back({pair.actual, pair.truth, type_number(pair.tensor->dtype),
                           type_number(pair.truth_type), pair.tensor->elements,
                           out + i * sizeof blank});
  }
  const int alike = not_finite == NotFinite::both_alike ? 1 : 0;
  const char* const doing = "comparing outputs";
  cuda::Pointer list = out + bytes;
  for (const Batch* batch : {&floating, &whole}) {
    const auto count = static_cast<std::uint64_t>(batch->pairs.size());
    if (count == 0) {
      continue;
    }
    const std::size_t list_bytes = batch->pairs.size() * sizeof(Compared);
    trouble.must(gpu.driver().copy_to_device(list, batch->pairs.data(), list_bytes, gpu.stream()),
                 doing);
    if (batch == &whole) {
      trouble.must(gpu.launch("compare_bits", batch->elements, list, count), doing);
    } else {
      trouble.must(gpu.launch("sum_squares", batch->elements, list, count), doing);
      for (const char* kernel : {"compare_floating", "find_worst"}) {
        trouble.must(gpu.launch(kernel, batch->elements, list, count, alike), doing);
      }
    }
    trouble.must(gpu.launch("read_worst", count, list, count), doing);
    list += list_bytes;
  }
  results.read(found.data(), bytes);
  return found;
}

TensorError error_of(const DeviceComparison& found, const TensorPlan& tensor) {
  TensorError error;
  error.poisoned = static_cast<std::int64_t>(found.poisoned);
  error.excused = static_cast<std::int64_t>(found.excused);
  if (is_floating(tensor.dtype)) {
    error.error = found.error();
  } else {
    error.error = found.different == 0 ? 0 : std::numeric_limits<double>::infinity();
  }
  if (error.error > 0) {
    error.worst = static_cast<std::int64_t>(found.worst);
    error.actual = found.actual;
    error.expected = found.expected;
  }
  return error;
}

}  // namespace kernelpro

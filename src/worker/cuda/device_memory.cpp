#include "worker/cuda/device_memory.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>

#include "worker/cuda/device_scratch.hpp"
#include "worker/tensor/parallel.hpp"

namespace kernelpro {

namespace {

constexpr std::size_t sweeps_of_l2 = 3;

// As judge_kernels.cu numbers the element types.
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

}  // namespace

DeviceMemory::~DeviceMemory() {
  must(gpu_.synchronize(), "ending");
  for (const cuda::Pointer pointer : {saved_, sweeper_, results_}) {
    if (pointer != 0) {
      gpu_.driver().free(pointer);
    }
  }
}

Status DeviceMemory::allocate() {
  const std::size_t wanted = plan_.input_bytes() + 2 * plan_.output_bytes();
  const auto free = static_cast<std::size_t>(gpu_.free_bytes());
  if (wanted > free) {
    return make_error(
        ErrorKind::environment,
        fmt::format("{:.1f} GB of buffers are needed ({} sets), {:.1f} GB are free on {}: use a "
                    "smaller shape, or end what else runs there",
                    static_cast<double>(wanted) / 1e9, plan_.sets, static_cast<double>(free) / 1e9,
                    gpu_.description().name),
        task_.name);
  }
  for (int set = 0; set < plan_.sets; ++set) {
    for (const TensorPlan& tensor : plan_.tensors) {
      Result<DeviceBlock> block = gpu_.share(tensor.region_bytes);
      if (!block) {
        return block.error();
      }
      blocks_.push_back(std::move(*block));
    }
  }
  return {};
}

void DeviceMemory::must(cuda::Code code, const char* doing) {
  if (code != cuda::success && !problem_) {
    problem_ = cuda::driver_error(gpu_.driver(), code, doing);
    problem_->kind = ErrorKind::lost;
  }
}

Status DeviceMemory::health() {
  must(gpu_.synchronize(), "the worker's own context");
  return problem_ ? Status(*problem_) : Status();
}

cuda::Pointer DeviceMemory::region(int set, std::size_t tensor) const {
  return blocks_[static_cast<std::size_t>(set) * plan_.tensors.size() + tensor].pointer();
}

cuda::Pointer DeviceMemory::data(int set, std::size_t tensor) const {
  return region(set, tensor) + plan_.tensors[tensor].data_offset;
}

cuda::Pointer DeviceMemory::saved(int set, std::size_t output) const {
  const TensorPlan& tensor = plan_.tensors[plan_.input_count + output];
  return saved_ + static_cast<std::size_t>(set) * plan_.output_stride + tensor.region_offset +
         tensor.data_offset;
}

void DeviceMemory::set_region(int set, std::size_t tensor, unsigned char value) {
  must(gpu_.driver().set_bytes(region(set, tensor), value, plan_.tensors[tensor].region_bytes,
                               gpu_.stream()),
       "poisoning");
}

void DeviceMemory::fill(const std::vector<std::uint64_t>& seeds, Distribution distribution,
                        unsigned char slack) {
  seeds_ = seeds;
  distribution_ = distribution;
  for (std::size_t i = 0; i < plan_.input_count; ++i) {
    if (task_.inputs[i].values.kind == ValueKind::offsets) {
      fill_offsets(i, seeds);
    }
  }
  for (std::size_t at = 0; at < seeds.size(); ++at) {
    const int set = static_cast<int>(at);
    // Inputs that others are drawn from come first.
    for (const bool dependent : {false, true}) {
      for (std::size_t i = 0; i < plan_.input_count; ++i) {
        if ((task_.inputs[i].values.kind == ValueKind::csr_columns) != dependent) {
          continue;
        }
        const TensorPlan& tensor = plan_.tensors[i];
        const std::size_t end = tensor.data_offset + tensor.bytes;
        const cuda::Driver& driver = gpu_.driver();
        must(driver.set_bytes(region(set, i), slack, tensor.data_offset, gpu_.stream()), "filling");
        must(
            driver.set_bytes(region(set, i) + end, slack, tensor.region_bytes - end, gpu_.stream()),
            "filling");
        if (tensor.elements > 0) {
          fill_tensor(set, i, seeds[at], distribution);
        }
      }
    }
  }
}

void DeviceMemory::fill_tensor(int set, std::size_t index, std::uint64_t seed,
                               Distribution distribution) {
  const TensorPlan& tensor = plan_.tensors[index];
  const ValueSpec& values = task_.inputs[index].values;
  const std::uint64_t stream = input_stream(seed, index);
  const int type = type_number(tensor.dtype);
  const auto elements = static_cast<std::uint64_t>(tensor.elements);
  const WholeRange whole = whole_range(values, plan_.axes);
  if (values.kind == ValueKind::offsets) {
    return;  // fill_offsets
  }
  if (values.kind == ValueKind::csr_columns) {
    const std::size_t rows = rows_input(task_, index);
    const TensorPlan& offsets = plan_.tensors[rows];
    const auto count = static_cast<std::uint64_t>(offsets.elements - 1);
    must(gpu_.launch("fill_columns", count, data(set, index), type, data(set, rows),
                     type_number(offsets.dtype), count, whole.count, stream),
         "drawing inputs");
  } else if (is_floating(tensor.dtype)) {
    must(gpu_.launch("fill_floating", elements, data(set, index), type, elements,
                     draw_rule(values, tensor.dtype, stream, distribution)),
         "drawing inputs");
  } else {
    must(gpu_.launch("fill_whole", elements, data(set, index), type, elements, whole.low,
                     static_cast<std::uint64_t>(std::max<std::int64_t>(whole.count, 1)), stream),
         "drawing inputs");
  }
}

// Row pointers are a running sum: drawn here, sets side by side, and copied.
void DeviceMemory::fill_offsets(std::size_t index, const std::vector<std::uint64_t>& seeds) {
  const TensorPlan& tensor = plan_.tensors[index];
  const std::int64_t total = whole_range(task_.inputs[index].values, plan_.axes).count;
  std::vector<std::vector<char>> drawn(seeds.size());
  parallel_parts(seeds.size(), 1, [&](std::size_t begin, std::size_t end) {
    for (std::size_t set = begin; set < end; ++set) {
      drawn[set] = draw_offsets(tensor, total, input_stream(seeds[set], index));
    }
  });
  for (std::size_t set = 0; set < seeds.size(); ++set) {
    must(gpu_.driver().copy_to_device(data(static_cast<int>(set), index), drawn[set].data(),
                                      drawn[set].size(), gpu_.stream()),
         "copying row pointers");
  }
  must(gpu_.synchronize(), "copying row pointers");
}

void DeviceMemory::poison_varying_inputs() {
  for (int set = 0; set < plan_.sets; ++set) {
    for (std::size_t i = 0; i < plan_.input_count; ++i) {
      if (!task_.inputs[i].constant) {
        must(gpu_.driver().set_bytes(data(set, i), poison_byte, plan_.tensors[i].bytes,
                                     gpu_.stream()),
             "poisoning inputs");
      }
    }
  }
  must(gpu_.synchronize(), "poisoning inputs");
}

std::uint64_t DeviceMemory::inputs_hash() {
  std::uint64_t sum = 0;
  const cuda::Pointer out = results(sizeof sum, &sum);
  std::uint64_t salt = 0;
  for (int set = 0; set < plan_.sets; ++set) {
    for (std::size_t i = 0; i < plan_.input_count; ++i) {
      constexpr std::uint64_t word = 16;
      const std::uint64_t words = plan_.tensors[i].region_bytes / word;
      must(gpu_.launch("hash_words", words, region(set, i), words, ++salt, out), "hashing inputs");
    }
  }
  read_results(&sum, sizeof sum);
  return sum;
}

void DeviceMemory::poison_outputs() {
  for (int set = 0; set < plan_.sets; ++set) {
    poison_outputs(set);
  }
}

void DeviceMemory::poison_outputs(int set) {
  for (std::size_t i = plan_.input_count; i < plan_.tensors.size(); ++i) {
    set_region(set, i, poison_byte);
  }
  must(gpu_.synchronize(), "poisoning outputs");
}

Touched DeviceMemory::touched(const std::vector<std::uint16_t>& called) {
  const std::size_t outputs = plan_.tensors.size() - plan_.input_count;
  constexpr std::size_t sides = 2;  // before and after the data
  const Range none{std::numeric_limits<std::uint64_t>::max(), 0};
  std::vector<Range> found(static_cast<std::size_t>(plan_.sets) * outputs * sides, none);
  const cuda::Pointer out = results(found.size() * sizeof(Range), found.data());
  const auto was_called = [&called](int set) {
    return std::find(called.begin(), called.end(), set) != called.end();
  };
  std::size_t at = 0;
  for (int set = 0; set < plan_.sets; ++set) {
    for (std::size_t i = 0; i < outputs; ++i) {
      const TensorPlan& tensor = plan_.tensors[plan_.input_count + i];
      const std::uint64_t begin = tensor.data_offset;
      const std::uint64_t end = tensor.data_offset + tensor.bytes;
      // In a set that was not called the data is watched together with what lies before it.
      const std::uint64_t first_end = was_called(set) ? begin : end;
      for (const auto& [from, to] :
           {std::pair<std::uint64_t, std::uint64_t>{0, first_end}, {end, tensor.region_bytes}}) {
        must(gpu_.launch("find_written", (to - from) / 16 + 32, region(set, plan_.input_count + i),
                         from, to, out + at * sizeof(Range)),
             "checking guards");
        ++at;
      }
    }
  }
  read_results(found.data(), found.size() * sizeof(Range));
  Touched touched;
  for (std::size_t i = 0; i < found.size(); ++i) {
    const int set = static_cast<int>(i / sides / outputs);
    const TensorPlan& tensor = plan_.tensors[plan_.input_count + i / sides % outputs];
    if (found[i].last == 0) {
      continue;
    }
    if (!was_called(set)) {
      touched.uncalled_set = touched.uncalled_set.value_or(set);
    } else if (!touched.breach) {
      const bool before = i % sides == 0;
      const auto begin = static_cast<std::int64_t>(tensor.data_offset);
      const auto end = begin + static_cast<std::int64_t>(tensor.bytes);
      touched.breach = GuardBreach{tensor.name,
                                   before ? static_cast<std::int64_t>(found[i].last) - 1 - begin
                                          : static_cast<std::int64_t>(found[i].first) - end,
                                   before};
    }
  }
  return touched;
}

void DeviceMemory::save_outputs() {
  if (saved_ == 0) {
    must(gpu_.driver().allocate(&saved_, plan_.output_bytes()), "keeping a copy of the outputs");
    if (problem_) {
      return;
    }
  }
  for (int set = 0; set < plan_.sets; ++set) {
    for (std::size_t i = plan_.input_count; i < plan_.tensors.size(); ++i) {
      must(gpu_.driver().copy_on_device(saved(set, i - plan_.input_count), data(set, i),
                                        plan_.tensors[i].bytes, gpu_.stream()),
           "keeping a copy of the outputs");
    }
  }
}

cuda::Pointer DeviceMemory::results(std::size_t bytes, const void* initial) {
  if (bytes > results_bytes_) {
    if (results_ != 0) {
      gpu_.driver().free(results_);
    }
    results_ = 0;
    results_bytes_ = bytes;
    must(gpu_.driver().allocate(&results_, bytes), "making room for results");
  }
  must(gpu_.driver().copy_to_device(results_, initial, bytes, gpu_.stream()), "clearing results");
  must(gpu_.synchronize(), "clearing results");
  return results_;
}

void DeviceMemory::read_results(void* to, std::size_t bytes) {
  must(gpu_.driver().copy_to_host(to, results_, bytes, gpu_.stream()), "reading results");
  must(gpu_.synchronize(), "reading results");
}

void DeviceMemory::enqueue_comparison(cuda::Pointer actual, cuda::Pointer truth, std::size_t output,
                                      Side side, cuda::Pointer out) {
  const int alike = side == Side::both_alike ? 1 : 0;
  const TensorPlan& tensor = plan_.tensors[plan_.input_count + output];
  const auto elements = static_cast<std::uint64_t>(tensor.elements);
  const int type = type_number(tensor.dtype);
  if (!is_floating(tensor.dtype)) {
    must(gpu_.launch("compare_bits", elements, actual, truth, type,
                     static_cast<int>(size_of(tensor.dtype)), elements, out),
         "comparing outputs");
  } else {
    must(gpu_.launch("sum_squares", elements, truth, type, elements, out), "comparing outputs");
    must(gpu_.launch("compare_floating", elements, actual, truth, type, elements, alike, out),
         "comparing outputs");
    must(gpu_.launch("find_worst", elements, actual, truth, type, elements, alike, out),
         "comparing outputs");
  }
  must(gpu_.launch("read_worst", 1, actual, truth, type, out), "comparing outputs");
}

std::vector<DeviceMemory::Comparison> DeviceMemory::compare(
    const std::vector<std::pair<cuda::Pointer, cuda::Pointer>>& pairs,
    const std::vector<std::size_t>& outputs, Side side) {
  Comparison blank{};
  blank.worst = std::numeric_limits<std::uint64_t>::max();
  std::vector<Comparison> found(pairs.size(), blank);
  const cuda::Pointer out = results(found.size() * sizeof(Comparison), found.data());
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    enqueue_comparison(pairs[i].first, pairs[i].second, outputs[i], side,
                       out + i * sizeof(Comparison));
  }
  read_results(found.data(), found.size() * sizeof(Comparison));
  return found;
}

std::vector<int> DeviceMemory::disagreeing(const std::vector<std::uint16_t>& sets,
                                           const std::vector<double>& bounds) {
  std::vector<std::pair<cuda::Pointer, cuda::Pointer>> pairs;
  std::vector<std::size_t> outputs;
  for (const std::uint16_t set : sets) {
    for (std::size_t i = 0; i < task_.outputs.size(); ++i) {
      pairs.emplace_back(data(set, plan_.input_count + i), saved(set, i));
      outputs.push_back(i);
    }
  }
  const std::vector<Comparison> found = compare(pairs, outputs, Side::both_alike);
  std::vector<int> out;
  for (std::size_t i = 0; i < found.size(); ++i) {
    const auto error = std::bit_cast<double>(found[i].error_bits);
    const int set = sets[i / task_.outputs.size()];
    if ((error > bounds[outputs[i]] || found[i].different > 0) &&
        (out.empty() || out.back() != set)) {
      out.push_back(set);
    }
  }
  return out;
}

std::vector<TensorError> DeviceMemory::errors_to(Copy truth, int set) {
  std::vector<std::pair<cuda::Pointer, cuda::Pointer>> pairs;
  std::vector<std::size_t> outputs;
  for (std::size_t i = 0; i < task_.outputs.size(); ++i) {
    pairs.emplace_back(data(set, plan_.input_count + i), saved(set, i));
    if (truth == Copy::outputs) {
      std::swap(pairs.back().first, pairs.back().second);
    }
    outputs.push_back(i);
  }
  std::vector<TensorError> errors;
  const std::vector<Comparison> found = compare(pairs, outputs, Side::truth_excuses);
  for (std::size_t i = 0; i < found.size(); ++i) {
    const TensorPlan& tensor = plan_.tensors[plan_.input_count + i];
    const Comparison& one = found[i];
    TensorError error;
    error.poisoned = static_cast<std::int64_t>(one.poisoned);
    error.excused = static_cast<std::int64_t>(one.excused);
    const bool ties =
        !task_.outputs[i].selects.empty() && one.poisoned == 0 &&
        static_cast<double>(one.different) <= tie_share * static_cast<double>(tensor.elements);
    if (!is_floating(tensor.dtype)) {
      error.error = one.different == 0 || ties ? 0 : std::numeric_limits<double>::infinity();
    } else {
      error.error = std::bit_cast<double>(one.error_bits);
    }
    if (error.error > 0) {
      error.worst = static_cast<std::int64_t>(one.worst);
      error.actual = one.actual;
      error.expected = one.expected;
    }
    errors.push_back(error);
  }
  return errors;
}

bool DeviceMemory::same_output(int first, int second, std::size_t index, double bound) {
  const cuda::Pointer a = data(first, plan_.input_count + index);
  const cuda::Pointer b = data(second, plan_.input_count + index);
  if (bound > 0 && is_floating(plan_.tensors[plan_.input_count + index].dtype)) {
    return std::bit_cast<double>(compare({{a, b}}, {index}, Side::both_alike).front().error_bits) <=
           bound;
  }
  Comparison found{};
  const cuda::Pointer out = results(sizeof found, &found);
  const auto bytes = static_cast<std::uint64_t>(plan_.tensors[plan_.input_count + index].bytes);
  must(gpu_.launch("compare_bits", bytes, a, b, type_number(DType::u8), 1, bytes, out),
       "comparing outputs");
  read_results(&found, sizeof found);
  return found.different == 0;
}

const char* DeviceMemory::output_regions(int set, Copy which) {
  regions_.resize(plan_.output_stride);
  for (std::size_t i = 0; i < task_.outputs.size(); ++i) {
    const TensorPlan& tensor = plan_.tensors[plan_.input_count + i];
    const cuda::Pointer from =
        which == Copy::outputs ? data(set, plan_.input_count + i) : saved(set, i);
    must(gpu_.driver().copy_to_host(regions_.data() + tensor.region_offset + tensor.data_offset,
                                    from, tensor.bytes, gpu_.stream()),
         "reading outputs");
  }
  must(gpu_.synchronize(), "reading outputs");
  return regions_.data();
}

Result<Expected> DeviceMemory::expected(Oracle& oracle, const InputDraw& draw, int set) {
  const Result<BufferPlan> plan =
      plan_buffers(task_, draw.axes, 1, draw.scalar_seed, PlanKind::oracle);
  if (!plan) {
    return plan.error();
  }
  Result<Arena> inputs = Arena::create(plan->input_bytes(), true);
  if (!inputs) {
    return inputs.error();
  }
  for (std::size_t i = 0; i < plan_.input_count; ++i) {
    must(gpu_.driver().copy_to_host(tensor_data(*plan, *inputs, 0, i), data(set, i),
                                    plan_.tensors[i].bytes, gpu_.stream()),
         "reading inputs");
  }
  KP_TRY(health());
  return oracle.expect(draw, *inputs);
}

void DeviceMemory::flush() {
  if (sweeper_ == 0) {
    sweeper_bytes_ = sweeps_of_l2 * static_cast<std::size_t>(gpu_.description().l2_bytes);
    must(gpu_.driver().allocate(&sweeper_, sweeper_bytes_), "making room for the flush");
    if (problem_) {
      return;
    }
  }
  constexpr std::uint64_t word = 16;
  must(gpu_.launch("sweep", sweeper_bytes_ / word, sweeper_,
                   static_cast<std::uint64_t>(sweeper_bytes_ / word), 1U),
       "flushing");
  must(gpu_.synchronize(), "flushing");
}

void DeviceMemory::hide(const std::vector<std::uint16_t>& sets, std::uint64_t seed) {
  hidden_sets_ = sets;
  hidden_seed_ = seed;
  change_lines(true);
}

void DeviceMemory::reveal() {
  change_lines(false);
  must(gpu_.synchronize(), "giving hidden inputs back");
  hidden_sets_.clear();
}

void DeviceMemory::change_lines(bool hide) {
  for (const std::uint16_t set : hidden_sets_) {
    for (std::size_t i = 0; i < plan_.input_count; ++i) {
      const TensorPlan& tensor = plan_.tensors[i];
      const ValueSpec& values = task_.inputs[i].values;
      // Whole numbers may be addresses of other elements, and constants are no secret.
      if (task_.inputs[i].constant || !is_floating(tensor.dtype) || tensor.elements == 0) {
        continue;
      }
      const auto elements = static_cast<std::uint64_t>(tensor.elements);
      must(gpu_.launch("change_lines", elements / 32, data(set, i), type_number(tensor.dtype),
                       elements,
                       draw_rule(values, tensor.dtype, input_stream(seeds_[set], i), distribution_),
                       hidden_seed_, hide ? 1 : 0),
           "hiding inputs");
    }
  }
}

std::vector<int> DeviceMemory::descriptors() const {
  std::vector<int> out;
  out.reserve(blocks_.size());
  for (const DeviceBlock& block : blocks_) {
    out.push_back(block.descriptor());
  }
  return out;
}

Result<std::unique_ptr<Scratch>> DeviceMemory::make_scratch(std::size_t bytes) {
  return make_device_scratch(gpu_, bytes, plan_.sets);
}

}  // namespace kernelpro

#include "worker/cuda/device_memory.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <limits>

#include "worker/cuda/device_scratch.hpp"
#include "worker/cuda/device_truth.hpp"
#include "worker/judge/held_truth.hpp"
#include "worker/tensor/parallel.hpp"

namespace kernelpro {

namespace {

constexpr std::size_t sweeps_of_l2 = 3;

std::uint64_t next_id() {
  static std::atomic<std::uint64_t> last = 0;
  return ++last;
}

}  // namespace

DeviceMemory::DeviceMemory(Gpu& gpu, const Task& task, const BufferPlan& plan, Oracle* drawer)
    : gpu_(gpu),
      task_(task),
      plan_(plan),
      drawer_(drawer),
      id_(next_id()),
      trouble_(gpu),
      results_(gpu, trouble_),
      lines_(gpu, trouble_) {}

DeviceMemory::~DeviceMemory() {
  must(gpu_.synchronize(), "ending");
  for (const cuda::Pointer pointer : {saved_, sweeper_}) {
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

Status DeviceMemory::health() {
  must(gpu_.synchronize(), "the worker's own context");
  return trouble_.take();
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
  if (drawer_ != nullptr) {
    draw_by_oracle(slack);
    return;
  }
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

void DeviceMemory::draw_by_oracle(unsigned char slack) {
  for (std::size_t at = 0; at < seeds_.size(); ++at) {
    for (std::size_t i = 0; i < plan_.input_count; ++i) {
      set_region(static_cast<int>(at), i, slack);
    }
  }
  must(gpu_.synchronize(), "filling");
  trouble_.note(drawer_->draw_into(plan_, {id_, descriptors()}, seeds_, distribution_));
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
  const cuda::Pointer out = results_.start(&sum, sizeof sum);
  if (trouble_.any()) {
    return sum;
  }
  std::uint64_t salt = 0;
  for (int set = 0; set < plan_.sets; ++set) {
    for (std::size_t i = 0; i < plan_.input_count; ++i) {
      constexpr std::uint64_t word = 16;
      const std::uint64_t words = plan_.tensors[i].region_bytes / word;
      must(gpu_.launch("hash_words", words, region(set, i), words, ++salt, out), "hashing inputs");
    }
  }
  results_.read(&sum, sizeof sum);
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
  const cuda::Pointer out = results_.start(found.data(), found.size() * sizeof(Range));
  if (trouble_.any()) {
    return {};
  }
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
  results_.read(found.data(), found.size() * sizeof(Range));
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
    if (trouble_.any()) {
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

ComparedPair DeviceMemory::with_saved(int set, std::size_t output) const {
  const TensorPlan& tensor = plan_.tensors[plan_.input_count + output];
  return {data(set, plan_.input_count + output), saved(set, output), &tensor, tensor.dtype};
}

std::vector<int> DeviceMemory::disagreeing(const std::vector<std::uint16_t>& sets,
                                           const std::vector<double>& bounds) {
  std::vector<ComparedPair> pairs;
  for (const std::uint16_t set : sets) {
    for (std::size_t i = 0; i < task_.outputs.size(); ++i) {
      pairs.push_back(with_saved(set, i));
    }
  }
  const std::vector<DeviceComparison> found =
      compare_on_device(gpu_, trouble_, results_, pairs, Side::both_alike);
  std::vector<int> out;
  for (std::size_t i = 0; i < found.size(); ++i) {
    const int set = sets[i / task_.outputs.size()];
    if ((found[i].error() > bounds[i % task_.outputs.size()] || found[i].different > 0) &&
        (out.empty() || out.back() != set)) {
      out.push_back(set);
    }
  }
  return out;
}

std::vector<TensorError> DeviceMemory::errors_to(Copy truth, int set) {
  std::vector<ComparedPair> pairs;
  for (std::size_t i = 0; i < task_.outputs.size(); ++i) {
    pairs.push_back(with_saved(set, i));
    if (truth == Copy::outputs) {
      std::swap(pairs.back().actual, pairs.back().truth);
    }
  }
  const std::vector<DeviceComparison> found =
      compare_on_device(gpu_, trouble_, results_, pairs, Side::truth_excuses);
  std::vector<TensorError> errors;
  errors.reserve(found.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    errors.push_back(error_of(found[i], *pairs[i].tensor, !task_.outputs[i].selects.empty()));
  }
  return errors;
}

bool DeviceMemory::same_output(int first, int second, std::size_t index, double bound) {
  const TensorPlan& tensor = plan_.tensors[plan_.input_count + index];
  const ComparedPair pair{data(first, plan_.input_count + index),
                          data(second, plan_.input_count + index), &tensor, tensor.dtype};
  if (bound > 0 && is_floating(tensor.dtype)) {
    return compare_on_device(gpu_, trouble_, results_, {pair}, Side::both_alike).front().error() <=
           bound;
  }
  TensorPlan bytes = tensor;
  bytes.dtype = DType::u8;
  bytes.elements = tensor.bytes;
  return compare_on_device(gpu_, trouble_, results_, {{pair.actual, pair.truth, &bytes, DType::u8}},
                           Side::both_alike)
             .front()
             .different == 0;
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

Result<std::unique_ptr<Truth>> DeviceMemory::truth(Oracle& oracle, const InputDraw& draw, int set) {
  if (task_.reference.torch) {
    return truth_on_device(oracle, draw, set);
  }
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
  Result<Expected> expected = oracle.expect(draw, *inputs);
  if (!expected) {
    return expected.error();
  }
  return std::unique_ptr<Truth>(
      std::make_unique<HeldTruth>(task_, plan_, *this, std::move(*expected)));
}

Result<std::unique_ptr<Truth>> DeviceMemory::truth_on_device(Oracle& oracle, const InputDraw& draw,
                                                             int set) {
  const Result<BufferPlan> plan =
      plan_buffers(task_, draw.axes, 1, draw.scalar_seed, PlanKind::oracle,
                   {gpu_.granularity(), device_alignment});
  if (!plan) {
    return plan.error();
  }
  if (static_cast<double>(plan->output_bytes()) > static_cast<double>(gpu_.free_bytes())) {
    return std::unique_ptr<Truth>();
  }
  auto truth = std::make_unique<DeviceTruth>(gpu_, *this, plan_, trouble_);
  KP_TRY(truth->allocate(*plan));
  DeviceTensors tensors{next_id(), {}};
  for (std::size_t i = 0; i < plan_.input_count; ++i) {
    tensors.descriptors.push_back(
        blocks_[static_cast<std::size_t>(set) * plan_.tensors.size() + i].descriptor());
  }
  for (const int descriptor : truth->descriptors()) {
    tensors.descriptors.push_back(descriptor);
  }
  KP_TRY(health());
  const Result<bool> expected = oracle.expect_into(*plan, tensors);
  if (!expected) {
    return expected.error();
  }
  return *expected ? std::unique_ptr<Truth>(std::move(truth)) : std::unique_ptr<Truth>();
}

void DeviceMemory::flush() {
  if (sweeper_ == 0) {
    sweeper_bytes_ = sweeps_of_l2 * static_cast<std::size_t>(gpu_.description().l2_bytes);
    must(gpu_.driver().allocate(&sweeper_, sweeper_bytes_), "making room for the flush");
    if (trouble_.any()) {
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

bool DeviceMemory::can_be_hidden(std::size_t input) const {
  const TensorPlan& tensor = plan_.tensors[input];
  // Whole numbers may be addresses of other elements, and constants are no secret.
  return !task_.inputs[input].constant && is_floating(tensor.dtype) && tensor.elements > 0;
}

void DeviceMemory::change_lines(bool hide) {
  if (drawer_ != nullptr) {
    move_lines(hide);
    return;
  }
  for (const std::uint16_t set : hidden_sets_) {
    for (std::size_t i = 0; i < plan_.input_count; ++i) {
      if (!can_be_hidden(i)) {
        continue;
      }
      const TensorPlan& tensor = plan_.tensors[i];
      const auto elements = static_cast<std::uint64_t>(tensor.elements);
      must(gpu_.launch("change_lines", elements / 32, data(set, i), type_number(tensor.dtype),
                       elements,
                       draw_rule(task_.inputs[i].values, tensor.dtype, input_stream(seeds_[set], i),
                                 distribution_),
                       hidden_seed_, hide ? 1 : 0),
           "hiding inputs");
    }
  }
}

void DeviceMemory::move_lines(bool hide) {
  std::size_t wanted = 0;
  for (std::size_t i = 0; i < plan_.input_count; ++i) {
    wanted += hidden_sets_.size() * HiddenLines::kept_bytes(plan_.tensors[i].bytes);
  }
  lines_.make_room(wanted);
  std::size_t at = 0;
  for (const std::uint16_t set : hidden_sets_) {
    for (std::size_t i = 0; i < plan_.input_count && !trouble_.any(); ++i) {
      if (can_be_hidden(i)) {
        lines_.move(data(set, i), plan_.tensors[i].bytes, hidden_seed_ + i, at, hide);
        at += HiddenLines::kept_bytes(plan_.tensors[i].bytes);
      }
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

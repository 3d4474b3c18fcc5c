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
constexpr std::uint64_t word = chunk_word;

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
      tables_{SideTables(gpu), SideTables(gpu)},
      giving_{TimedCopy(gpu), TimedCopy(gpu)},
      taking_{TimedCopy(gpu), TimedCopy(gpu)} {}

DeviceMemory::~DeviceMemory() {
  must(gpu_.synchronize(), "ending");
  for (const cuda::Pointer pointer : {taken_[0], taken_[1], sweeper_}) {
    if (pointer != 0) {
      gpu_.driver().free(pointer);
    }
  }
}

Status DeviceMemory::allocate() {
  sweeper_bytes_ = sweeps_of_l2 * static_cast<std::size_t>(gpu_.description().l2_bytes);
  // As drawn and on two sides; on two sides and as taken from them.
  const std::size_t wanted = 3 * plan_.input_bytes() + 4 * plan_.output_bytes() + sweeper_bytes_;
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
  KP_TRY(make_blocks());
  for (cuda::Pointer& copy : taken_) {
    must(gpu_.driver().allocate(&copy, std::max<std::size_t>(plan_.output_bytes(), word)),
         "making room for outputs");
  }
  must(gpu_.driver().allocate(&sweeper_, sweeper_bytes_), "making room for the flush");
  if (!trouble_.any()) {
    make_tables();
  }
  KP_TRY(trouble_.take());
  return make_gates();
}

Status DeviceMemory::make_gates() {
  for (const Side side : both_sides) {
    auto gate = std::make_unique<DeviceGate>(
        gpu_, trouble_,
        DeviceGate::Around{[this, side](Caches caches) { return copy_inputs(side, caches); },
                           [this, side] { return copy_outputs(side); }});
    KP_TRY(gate->allocate());
    gates_[index_of(side)] = std::move(gate);
  }
  return {};
}

Status DeviceMemory::make_blocks() {
  for (int set = 0; set < plan_.sets; ++set) {
    for (std::size_t i = 0; i < plan_.tensors.size(); ++i) {
      const std::size_t bytes = plan_.tensors[i].region_bytes;
      for (std::vector<DeviceBlock>* list : {&blocks_.front(), &blocks_.back(), &drawn_}) {
        if (list == &drawn_ && i >= plan_.input_count) {
          continue;
        }
        KP_LET(DeviceBlock block, gpu_.share(bytes));
        list->push_back(std::move(block));
      }
    }
  }
  return {};
}

void DeviceMemory::make_tables() {
  for (const Side side : both_sides) {
    SideTables& tables = tables_[index_of(side)];
    for (int set = 0; set < plan_.sets; ++set) {
      for (ChunkTable* table : tables.all()) {
        table->begin_set();
      }
      for (std::size_t i = 0; i < plan_.tensors.size(); ++i) {
        const TensorPlan& tensor = plan_.tensors[i];
        const cuda::Pointer there = region(side, set, i);
        if (i >= plan_.input_count) {
          tables.outputs.add(there + tensor.data_offset, taken(side, set, i - plan_.input_count),
                             tensor.bytes);
          tables.regions.add(0, there, tensor.region_bytes);
          continue;
        }
        const cuda::Pointer from = drawn(set, i);
        tables.inputs.add(from, there + tensor.data_offset, tensor.bytes);
        ChunkTable& kind = task_.inputs[i].constant ? tables.constants : tables.varying;
        kind.add(from, there + tensor.data_offset, tensor.bytes);
      }
    }
    for (ChunkTable* table : tables.all()) {
      must(table->upload(), "making lists of buffers");
    }
  }
}

Status DeviceMemory::health() {
  must(gpu_.synchronize(), "the worker's own context");
  return trouble_.take();
}

cuda::Pointer DeviceMemory::region(Side side, int set, std::size_t tensor) const {
  const std::size_t index = static_cast<std::size_t>(set) * plan_.tensors.size() + tensor;
  return blocks_[index_of(side)][index].pointer();
}

cuda::Pointer DeviceMemory::drawn_region(int set, std::size_t input) const {
  return drawn_[static_cast<std::size_t>(set) * plan_.input_count + input].pointer();
}

cuda::Pointer DeviceMemory::drawn(int set, std::size_t input) const {
  return drawn_region(set, input) + plan_.tensors[input].data_offset;
}

cuda::Pointer DeviceMemory::taken(Side side, int set, std::size_t output) const {
  const TensorPlan& tensor = plan_.tensors[plan_.input_count + output];
  return taken_[index_of(side)] + static_cast<std::size_t>(set) * plan_.output_stride +
         tensor.region_offset + tensor.data_offset;
}

void DeviceMemory::narrow(std::optional<int> set) {
  narrowed_ = set;
  for (SideTables& tables : tables_) {
    for (ChunkTable* table : {&tables.inputs, &tables.outputs, &tables.regions}) {
      table->narrow(set);
    }
  }
}

void DeviceMemory::give_constants(Side side) {
  const SideTables& tables = tables_[index_of(side)];
  must(tables.varying.launch("poison_chunks"), "poisoning inputs");
  must(tables.constants.launch("copy_chunks"), "giving constants");
  must(gpu_.synchronize(), "giving constants");
}

void DeviceMemory::make_ready(Side side, Caches /*caches*/) {
  must(tables_[index_of(side)].inputs.launch("poison_chunks"), "poisoning inputs");
  must(gpu_.synchronize(), "poisoning inputs");
}

cuda::Code DeviceMemory::copy_inputs(Side side, Caches caches) {
  cuda::Code code = tables_[index_of(side)].inputs.launch("copy_chunks");
  const std::uint64_t words = sweeper_bytes_ / word;
  for (const unsigned stay_longer : {1U, 0U}) {
    if (code == cuda::success && caches == Caches::cold) {
      code = gpu_.launch("sweep", words, sweeper_, words, stay_longer);
    }
  }
  return code;
}

cuda::Code DeviceMemory::copy_outputs(Side side) {
  return tables_[index_of(side)].outputs.launch("copy_chunks");
}

void DeviceMemory::give(Side side, Caches caches) {
  must(giving_[index_of(side)].run(caches, narrowed_.has_value(),
                                   [&] { return copy_inputs(side, caches); }),
       "giving inputs");
}

// All sets, in one launch: which of them were called makes no difference to the clock.
void DeviceMemory::take(Side side, const std::vector<std::uint16_t>& sets) {
  if (sets.empty()) {
    must(gpu_.launch("probe", 1), "waiting for the GPU");
    must(gpu_.synchronize(), "waiting for the GPU");
    return;
  }
  must(taking_[index_of(side)].run(Caches::any, narrowed_.has_value(),
                                   [&] { return copy_outputs(side); }),
       "taking outputs");
}

double DeviceMemory::own_ns(Side side) const {
  return giving_[index_of(side)].counted_ns() + taking_[index_of(side)].counted_ns();
}

// To the driver all runners are one user, who might get at each other's memory.
void DeviceMemory::hide(Side side) {
  must(tables_[index_of(side)].inputs.launch("poison_chunks"), "poisoning inputs");
  poison_outputs(side);
}

bool DeviceMemory::inputs_intact(Side side) {
  std::uint64_t changed = 0;
  const cuda::Pointer out = results_.start(&changed, sizeof changed);
  if (trouble_.any()) {
    return true;  // which health() tells
  }
  must(tables_[index_of(side)].inputs.launch("count_changed", out), "looking at inputs");
  results_.read(&changed, sizeof changed);
  return changed == 0;
}

void DeviceMemory::poison_outputs(Side side) {
  must(tables_[index_of(side)].regions.launch("poison_chunks"), "poisoning outputs");
  must(gpu_.synchronize(), "poisoning outputs");
}

void DeviceMemory::fill_outputs(Side side, const std::vector<std::uint16_t>& sets,
                                unsigned char content) {
  for (const std::uint16_t set : sets) {
    for (std::size_t t = plan_.input_count; t < plan_.tensors.size(); ++t) {
      const TensorPlan& tensor = plan_.tensors[t];
      must(gpu_.driver().set_bytes(region(side, set, t) + tensor.data_offset, content, tensor.bytes,
                                   gpu_.stream()),
           "filling outputs");
    }
  }
  must(gpu_.synchronize(), "filling outputs");
}

ComparedPair DeviceMemory::compared(Side actual, int set, std::size_t output) const {
  const TensorPlan& tensor = plan_.tensors[plan_.input_count + output];
  return {taken(actual, set, output), taken(other_side(actual), set, output), &tensor,
          tensor.dtype};
}

std::vector<int> DeviceMemory::disagreeing(const std::vector<std::uint16_t>& sets,
                                           const std::vector<double>& bounds) {
  std::vector<ComparedPair> pairs;
  for (const std::uint16_t set : sets) {
    for (std::size_t i = 0; i < task_.outputs.size(); ++i) {
      pairs.push_back(compared(Side::candidate, set, i));
    }
  }
  const std::vector<DeviceComparison> found =
      compare_on_device(gpu_, trouble_, results_, pairs, NotFinite::both_alike);
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

std::vector<TensorError> DeviceMemory::errors_to(Side truth, int set) {
  std::vector<ComparedPair> pairs;
  pairs.reserve(task_.outputs.size());
  for (std::size_t i = 0; i < task_.outputs.size(); ++i) {
    pairs.push_back(compared(other_side(truth), set, i));
  }
  const std::vector<DeviceComparison> found =
      compare_on_device(gpu_, trouble_, results_, pairs, NotFinite::excused);
  std::vector<TensorError> errors;
  errors.reserve(found.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    errors.push_back(error_of(found[i], *pairs[i].tensor));
  }
  return errors;
}

bool DeviceMemory::same_output(Side side, int first, int second, std::size_t index, double bound) {
  const TensorPlan& tensor = plan_.tensors[plan_.input_count + index];
  const ComparedPair pair{taken(side, first, index), taken(side, second, index), &tensor,
                          tensor.dtype};
  if (bound > 0 && is_floating(tensor.dtype)) {
    return compare_on_device(gpu_, trouble_, results_, {pair}, NotFinite::both_alike)
               .front()
               .error() <= bound;
  }
  TensorPlan bytes = tensor;
  bytes.dtype = DType::u8;
  bytes.elements = tensor.bytes;
  return compare_on_device(gpu_, trouble_, results_, {{pair.actual, pair.truth, &bytes, DType::u8}},
                           NotFinite::both_alike)
             .front()
             .different == 0;
}

const char* DeviceMemory::output_regions(Side side, int set) {
  regions_.resize(plan_.output_stride);
  for (std::size_t i = 0; i < task_.outputs.size(); ++i) {
    const TensorPlan& tensor = plan_.tensors[plan_.input_count + i];
    must(gpu_.driver().copy_to_host(regions_.data() + tensor.region_offset + tensor.data_offset,
                                    taken(side, set, i), tensor.bytes, gpu_.stream()),
         "reading outputs");
  }
  must(gpu_.synchronize(), "reading outputs");
  return regions_.data();
}

Result<std::unique_ptr<Truth>> DeviceMemory::truth(Oracle& oracle, const InputDraw& draw, int set) {
  if (task_.reference.torch) {
    return truth_on_device(oracle, draw, set);
  }
  KP_LET(const BufferPlan plan,
         plan_buffers(task_, draw.axes, 1, draw.scalar_key, PlanKind::oracle));
  KP_LET(Arena inputs, Arena::create(plan.input_bytes(), true));
  for (std::size_t i = 0; i < plan_.input_count; ++i) {
    must(gpu_.driver().copy_to_host(tensor_data(plan, inputs, 0, i), drawn(set, i),
                                    plan_.tensors[i].bytes, gpu_.stream()),
         "reading inputs");
  }
  KP_TRY(health());
  KP_LET(Expected expected, oracle.expect(draw, inputs));
  return std::unique_ptr<Truth>(
      std::make_unique<HeldTruth>(task_, plan_, *this, std::move(expected)));
}

Result<std::unique_ptr<Truth>> DeviceMemory::truth_on_device(Oracle& oracle, const InputDraw& draw,
                                                             int set) {
  KP_LET(const BufferPlan plan, plan_buffers(task_, draw.axes, 1, draw.scalar_key, PlanKind::oracle,
                                             {gpu_.granularity(), device_alignment}));
  if (static_cast<double>(plan.output_bytes()) > static_cast<double>(gpu_.free_bytes())) {
    return std::unique_ptr<Truth>();
  }
  auto truth = std::make_unique<DeviceTruth>(gpu_, *this, plan_, trouble_);
  KP_TRY(truth->allocate(plan));
  DeviceTensors tensors{next_id(), {}};
  for (std::size_t i = 0; i < plan_.input_count; ++i) {
    tensors.descriptors.push_back(
        drawn_[static_cast<std::size_t>(set) * plan_.input_count + i].descriptor());
  }
  for (const int descriptor : truth->descriptors()) {
    tensors.descriptors.push_back(descriptor);
  }
  KP_TRY(health());
  KP_LET(const bool expected, oracle.expect_into(plan, tensors));
  return expected ? std::unique_ptr<Truth>(std::move(truth)) : std::unique_ptr<Truth>();
}

std::vector<int> DeviceMemory::descriptors(Side side) const {
  std::vector<int> out;
  out.reserve(blocks_[index_of(side)].size());
  for (const DeviceBlock& block : blocks_[index_of(side)]) {
    out.push_back(block.descriptor());
  }
  return out;
}

Result<std::unique_ptr<Scratch>> DeviceMemory::make_scratch(std::size_t bytes) {
  return make_device_scratch(gpu_, bytes, plan_.sets);
}

}  // namespace kernelpro

#include "worker/judge/host_ground.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <limits>
#include <mutex>

#include "common/base/hash.hpp"
#include "common/base/memory.hpp"
#include "worker/judge/held_truth.hpp"
#include "worker/judge/rapl.hpp"
#include "worker/tensor/parallel.hpp"

namespace kernelpro {

namespace {

constexpr std::int64_t gibibyte = 1LL << 30;
constexpr std::size_t chunk = 1 << 20;

// Room for the buffers, their guards and prepared state, for what the candidate allocates itself,
// and for what each thread reserves (a stack, and an arena of the C library).
std::int64_t memory_limit(const JudgeSettings& settings, std::size_t buffer_bytes) {
  const std::int64_t wanted = 2 * gibibyte + 4 * static_cast<std::int64_t>(buffer_bytes) +
                              settings.threads * (gibibyte / 8);
  return settings.memory_bytes > 0 ? std::min(wanted, settings.memory_bytes) : wanted;
}

class HostScratch : public Scratch {
 public:
  [[nodiscard]] static Result<std::unique_ptr<Scratch>> make(std::size_t bytes, int sets) {
    auto scratch = std::make_unique<HostScratch>();
    const MemoryUnits units = host_units();
    scratch->bytes_ = bytes;
    // As the outputs: slack in front, the end at a guard page.
    scratch->stride_ = round_up(round_up(bytes, units.alignment) + units.alignment, units.page);
    scratch->offset_ = scratch->stride_ - round_up(bytes, units.alignment);
    const std::size_t all_sets = scratch->stride_ * static_cast<std::size_t>(sets);
    // All of it is written before each round, beside everything else that is in memory.
    if (const std::int64_t left = available_memory_bytes();
        left > 0 && all_sets > static_cast<std::size_t>(left) / 2) {
      return make_error(ErrorKind::environment, "all calls of a round together would take " +
                                                    std::to_string(all_sets) + " bytes, and " +
                                                    std::to_string(left) + " are available");
    }
    Result<Arena> arena = Arena::create(all_sets, false);
    if (!arena) {
      return arena.error();
    }
    scratch->arena_ = std::move(*arena);
    return std::unique_ptr<Scratch>(std::move(scratch));
  }

  void poison() override { std::memset(arena_.data(), poison_byte, arena_.size()); }

  [[nodiscard]] bool intact() override {
    const std::size_t back = stride_ - offset_ - bytes_;
    for (std::size_t at = 0; at + stride_ <= arena_.size(); at += stride_) {
      const char* region = arena_.data() + at;
      if (!is_poison(region, offset_) || !is_poison(region + stride_ - back, back)) {
        return false;
      }
    }
    return true;
  }

  [[nodiscard]] std::vector<int> descriptors() const override { return {arena_.fd()}; }

  void describe(runner::Layout& layout) const override {
    layout.workspace_bytes = bytes_;
    layout.workspace_stride = stride_;
    layout.workspace_offset = offset_;
  }

 private:
  Arena arena_;
  std::size_t bytes_ = 0;
  std::size_t stride_ = 0;  // of one set; the workspace ends within one alignment of its end
  std::size_t offset_ = 0;
};

class HostMemory : public SetMemory {
 public:
  HostMemory(const Task& task, const BufferPlan& plan, std::int64_t cache_bytes, Oracle* drawer)
      : task_(task), plan_(plan), cache_bytes_(cache_bytes), drawer_(drawer) {}

  [[nodiscard]] Status allocate() {
    for (Arena* arena : {&inputs_, &outputs_}) {
      const bool input = arena == &inputs_;
      Result<Arena> made = Arena::create(input ? plan_.input_bytes() : plan_.output_bytes(), input);
      if (!made) {
        return made.error();
      }
      *arena = std::move(*made);
    }
    return {};
  }

  void fill(const std::vector<std::uint64_t>& seeds, Distribution distribution,
            unsigned char slack) override {
    if (drawer_ != nullptr) {
      for (std::size_t first = 0; first < seeds.size(); first += runner::max_seeds) {
        take_drawn(first, seeds, distribution, slack);
      }
      return;
    }
    parallel_parts(seeds.size(), 1, [&](std::size_t begin, std::size_t end) {
      for (std::size_t set = begin; set < end; ++set) {
        fill_inputs(task_, plan_, inputs_, static_cast<int>(set), seeds[set], distribution, slack);
      }
    });
  }

  void poison_varying_inputs() override {
    for (int set = 0; set < plan_.sets; ++set) {
      for (std::size_t i = 0; i < task_.inputs.size(); ++i) {
        if (!task_.inputs[i].constant) {
          std::memset(tensor_data(plan_, inputs_, set, i), poison_byte, plan_.tensors[i].bytes);
        }
      }
    }
  }

  [[nodiscard]] std::uint64_t inputs_hash() override {
    return memory_hash(inputs_.data(), inputs_.size());
  }

  void poison_outputs() override {
    parallel_parts(outputs_.size(), chunk, [&](std::size_t begin, std::size_t end) {
      std::memset(outputs_.data() + begin, poison_byte, end - begin);
    });
  }

  void poison_outputs(int set) override { kernelpro::poison_outputs(plan_, outputs_, set); }

  [[nodiscard]] Touched touched(const std::vector<std::uint16_t>& called) override {
    Touched out;
    for (int set = 0; set < plan_.sets; ++set) {
      if (std::find(called.begin(), called.end(), set) == called.end()) {
        if (!out.uncalled_set && !still_poisoned(plan_, outputs_, set)) {
          out.uncalled_set = set;
        }
      } else if (!out.breach) {
        const std::vector<GuardBreach> found = find_breaches(plan_, outputs_, set);
        out.breach = found.empty() ? std::nullopt : std::optional(found.front());
      }
    }
    return out;
  }

  void save_outputs() override {
    if (saved_.size() == 0) {
      Result<Arena> made = Arena::create(outputs_.size(), false);
      if (!made) {
        problem_ = made.error();
        return;
      }
      saved_ = std::move(*made);
    }
    parallel_parts(saved_.size(), chunk, [&](std::size_t begin, std::size_t end) {
      std::memcpy(saved_.data() + begin, outputs_.data() + begin, end - begin);
    });
  }

  [[nodiscard]] std::vector<int> disagreeing(const std::vector<std::uint16_t>& sets,
                                             const std::vector<double>& bounds) override {
    std::vector<int> out;
    std::mutex mutex;
    parallel_parts(sets.size(), 1, [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) {
        if (!agrees_with_saved(sets[i], bounds)) {
          const std::lock_guard lock(mutex);
          out.push_back(sets[i]);
        }
      }
    });
    return out;
  }

  [[nodiscard]] std::vector<TensorError> errors_to(Copy truth_copy, int set) override {
    const Arena& truths = truth_copy == Copy::outputs ? outputs_ : saved_;
    const Arena& actuals = truth_copy == Copy::outputs ? saved_ : outputs_;
    std::vector<TensorError> errors;
    for (std::size_t t = plan_.input_count; t < plan_.tensors.size(); ++t) {
      const TensorPlan& tensor = plan_.tensors[t];
      const char* actual = tensor_data(plan_, actuals, set, t);
      const char* truth = tensor_data(plan_, truths, set, t);
      if (is_floating(tensor.dtype)) {
        const std::vector<double> values = to_doubles(truth, tensor.dtype, tensor.elements);
        errors.push_back(compare_floating(actual, tensor.dtype, values.data(),
                                          rms(values.data(), values.size()), tensor.elements,
                                          truth));
      } else {
        errors.push_back(compare_whole(actual, truth, tensor.dtype, tensor.elements));
        forgive_ties(t - plan_.input_count, tensor, actual, truth, errors.back());
      }
    }
    return errors;
  }

  [[nodiscard]] bool same_output(int first, int second, std::size_t index, double bound) override {
    const TensorPlan& tensor = plan_.tensors[plan_.input_count + index];
    const char* a = tensor_data(plan_, outputs_, first, plan_.input_count + index);
    const char* b = tensor_data(plan_, outputs_, second, plan_.input_count + index);
    return std::memcmp(a, b, tensor.bytes) == 0 ||
           (bound > 0 && agree(a, b, tensor.dtype, tensor.elements, bound));
  }

  [[nodiscard]] const char* output_regions(int set, Copy which) override {
    const Arena& arena = which == Copy::outputs ? outputs_ : saved_;
    return arena.data() + static_cast<std::size_t>(set) * plan_.output_stride;
  }

  [[nodiscard]] Result<std::unique_ptr<Truth>> truth(Oracle& oracle, const InputDraw& draw,
                                                     int /*set*/) override {
    Result<Expected> expected = oracle.expect(draw);
    if (!expected) {
      return expected.error();
    }
    return std::unique_ptr<Truth>(
        std::make_unique<HeldTruth>(task_, plan_, *this, std::move(*expected)));
  }

  void flush() override {
    constexpr std::size_t line = 64;
    evictor_.resize(static_cast<std::size_t>(2 * cache_bytes_));
    parallel_parts(evictor_.size(), chunk, [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; i += line) {
        evictor_[i] = static_cast<char>(evictor_[i] + 1);
      }
    });
  }

  void hide(const std::vector<std::uint16_t>& /*sets*/, std::uint64_t /*seed*/) override {}
  void reveal() override {}

  [[nodiscard]] std::vector<int> descriptors() const override {
    return {inputs_.fd(), outputs_.fd()};
  }

  [[nodiscard]] Result<std::unique_ptr<Scratch>> make_scratch(std::size_t bytes) override {
    return HostScratch::make(bytes, plan_.sets);
  }

  [[nodiscard]] Status health() override { return problem_; }

 private:
  // The sets from `first` on, as many as are drawn at once.
  void take_drawn(std::size_t first, const std::vector<std::uint64_t>& all,
                  Distribution distribution, unsigned char slack) {
    const std::size_t count = std::min<std::size_t>(all.size() - first, runner::max_seeds);
    const auto begin = all.begin() + static_cast<std::ptrdiff_t>(first);
    const std::vector<std::uint64_t> seeds(begin, begin + static_cast<std::ptrdiff_t>(count));
    InputDraw draw;
    draw.axes = plan_.axes;
    draw.distribution = distribution;
    const Result<BufferPlan> from =
        plan_buffers(task_, draw.axes, static_cast<int>(count), 0, PlanKind::oracle);
    const Result<Arena> drawn = drawer_->inputs(draw, seeds);
    if (!from || !drawn) {
      problem_ = from ? drawn.error() : from.error();
      return;
    }
    for (std::size_t at = 0; at < count; ++at) {
      for (std::size_t i = 0; i < plan_.input_count; ++i) {
        const TensorPlan& tensor = plan_.tensors[i];
        char* data = tensor_data(plan_, inputs_, static_cast<int>(first + at), i);
        std::memset(data - tensor.data_offset, slack, tensor.region_bytes);
        std::memcpy(data, tensor_data(*from, *drawn, static_cast<int>(at), i), tensor.bytes);
      }
    }
  }

  [[nodiscard]] bool agrees_with_saved(int set, const std::vector<double>& bounds) const {
    for (std::size_t t = plan_.input_count; t < plan_.tensors.size(); ++t) {
      const TensorPlan& tensor = plan_.tensors[t];
      if (!agree(tensor_data(plan_, outputs_, set, t), tensor_data(plan_, saved_, set, t),
                 tensor.dtype, tensor.elements, bounds[t - plan_.input_count])) {
        return false;
      }
    }
    return true;
  }

  void forgive_ties(std::size_t output, const TensorPlan& tensor, const char* actual,
                    const char* truth, TensorError& error) const {
    if (task_.outputs[output].selects.empty() || error.poisoned > 0) {
      return;
    }
    const std::size_t width = size_of(tensor.dtype);
    std::size_t different = 0;
    for (std::size_t i = 0; i < tensor.elements; ++i) {
      different += std::memcmp(actual + i * width, truth + i * width, width) != 0 ? 1 : 0;
    }
    if (static_cast<double>(different) <= tie_share * static_cast<double>(tensor.elements)) {
      error = {};
    }
  }

  const Task& task_;
  const BufferPlan& plan_;
  std::int64_t cache_bytes_;
  Oracle* drawer_;  // null: inputs are drawn here
  Arena inputs_;
  Arena outputs_;
  Arena saved_;
  std::vector<char> evictor_;  // streamed through to empty the caches
  Status problem_;
};

class HostGround : public Ground {
 public:
  explicit HostGround(std::int64_t cache_bytes) : cache_bytes_(cache_bytes) {}

  [[nodiscard]] std::string backend() const override { return "cpu"; }
  [[nodiscard]] std::string device() const override { return ""; }
  [[nodiscard]] std::string lock_name() const override { return "cpu"; }
  [[nodiscard]] MemoryUnits units() const override { return host_units(); }
  [[nodiscard]] std::int64_t cache_bytes() const override { return cache_bytes_; }
  [[nodiscard]] int most_sets(std::size_t /*tensors*/) const override {
    return runner::max_sets - 1;
  }
  [[nodiscard]] double round_bytes() const override { return 256 << 20; }
  [[nodiscard]] OracleLimits oracle_limits() const override {
    constexpr double none = std::numeric_limits<double>::infinity();
    return {none, none};
  }
  // Sealed: nobody but us can ever write to them.
  [[nodiscard]] bool watch_inputs() const override { return false; }
  [[nodiscard]] bool always_flush() const override { return false; }

  [[nodiscard]] Result<std::unique_ptr<SetMemory>> lay_out(const Task& task,
                                                           const BufferPlan& plan) override {
    auto memory = std::make_unique<HostMemory>(task, plan, cache_bytes_, drawer_);
    KP_TRY(memory->allocate());
    return std::unique_ptr<SetMemory>(std::move(memory));
  }

  [[nodiscard]] RunnerSettings runner(const JudgeSettings& settings, const std::string& library,
                                      bool may_link, std::size_t buffer_bytes) const override {
    RunnerSettings out;
    out.jail = settings.jail;
    out.program = settings.runner;
    out.threads = settings.threads;
    out.stop = settings.stop;
    out.policy.read = runtime_libraries();
    out.policy.read.push_back(library);
    if (may_link) {
      for (const char* folder :
           {"/usr/lib", "/lib", "/lib64", "/etc/alternatives", "/sys", "/proc"}) {
        out.policy.read.push_back(std::filesystem::weakly_canonical(folder).string());
      }
    }
    out.policy.landlock = settings.landlock;
    out.policy.memory_bytes = memory_limit(settings, buffer_bytes);
    return out;
  }

  [[nodiscard]] std::optional<RunnerSettings> tracing_runner(
      const JudgeSettings& /*settings*/, const std::string& /*library*/, bool /*may_link*/,
      std::size_t /*buffer_bytes*/) const override {
    return std::nullopt;
  }
  [[nodiscard]] std::vector<std::string> disturbances() const override { return {}; }
  [[nodiscard]] std::string null_source() const override {
    return "#include \"kernelpro/candidate.h\"\n"
           "extern \"C\" int kp_launch(const kp_context*, const kp_tensor*, int32_t) { return 0; "
           "}\n";
  }
  [[nodiscard]] std::string default_compiler() const override { return ""; }
  [[nodiscard]] double least_noise() const override { return 0.005; }
  [[nodiscard]] double hand_over_doubt_ns() const override { return 0; }
  [[nodiscard]] bool enqueues() const override { return false; }
  // A runner that is stopped computes nothing.
  void settle() override {}

  [[nodiscard]] Result<EnergyMeter*> energy_meter() override {
    if (!meter_) {
      Result<std::unique_ptr<EnergyMeter>> opened = open_rapl(powercap_folder());
      if (!opened) {
        return opened.error();
      }
      meter_ = std::move(*opened);
    }
    return meter_.get();
  }

 private:
  std::int64_t cache_bytes_;
  std::unique_ptr<EnergyMeter> meter_;  // opened when it is first asked for
};

}  // namespace

std::unique_ptr<Ground> make_host_ground(std::int64_t cache_bytes) {
  return std::make_unique<HostGround>(cache_bytes);
}

}  // namespace kernelpro

#include "worker/oracle/oracle.hpp"

#include <algorithm>
#include <cstring>

#include "common/base/secret.hpp"
#include "worker/oracle/reference_source.hpp"
#include "worker/oracle/torch.hpp"

namespace kernelpro {

namespace {

// Uses of a set's key beside its tensors (generate.cpp).
constexpr std::uint64_t torch_inputs_purpose = 101;
constexpr std::uint64_t torch_parameters_purpose = 102;

Result<BuildOutcome> build_reference(const Task& task, const Toolchain& toolchain,
                                     ReferenceMode mode, std::stop_token stop) {
  BuildRequest request;
  request.source = reference_source(task, mode);
  request.options = {"-O2"};
  request.files = task.files;
  Result<BuildOutcome> built = toolchain.build(request, stop);
  if (built && !built->ok) {
    return make_error(ErrorKind::bad_input,
                      "the reference does not compile:\n" + built->diagnostics,
                      task.reference.file);
  }
  return built;
}

std::string describe_end(const Exchange& exchange) {
  if (exchange.end == ExchangeEnd::timed_out) {
    return "the reference did not finish in time";
  }
  if (exchange.end == ExchangeEnd::stopped) {
    return "the reference was interrupted";
  }
  if (exchange.signal != 0) {
    return std::string("the reference crashed: ") + strsignal(exchange.signal);
  }
  if (exchange.end == ExchangeEnd::died) {
    return "the reference ended its process with exit code " + std::to_string(exchange.exit_code);
  }
  return std::string("the reference failed: ") + exchange.reply.text;
}

bool succeeded(const Exchange& exchange) {
  return exchange.end == ExchangeEnd::replied && exchange.reply.status == runner::CallStatus::ok;
}

const Selection& selection_of(const Task& task, const std::string& name) {
  return *std::find_if(task.selections.begin(), task.selections.end(),
                       [&name](const Selection& s) { return s.name == name; });
}

std::size_t tensor_named(const BufferPlan& plan, const std::string& name) {
  for (std::size_t i = plan.input_count; i < plan.tensors.size(); ++i) {
    if (plan.tensors[i].name == name) {
      return i;
    }
  }
  return plan.input_count;
}

std::vector<double> doubles_at(const BufferPlan& plan, const Arena& outputs, std::size_t index) {
  const auto* data = reinterpret_cast<const double*>(tensor_data(plan, outputs, 0, index));
  return {data, data + plan.tensors[index].elements};
}

}  // namespace

Result<Oracle> Oracle::open(const Task& task, const Toolchain& toolchain,
                            const OracleSettings& settings, std::stop_token stop) {
  Oracle oracle(task, settings);
  if (task.reference.baseline) {
    return oracle;  // never asked for values
  }
  KP_LET(const ScratchDir scratch, ScratchDir::create("reference"));
  KP_LET(BuildOutcome built,
         task.reference.torch
             ? torch_build(task.files.at(task.reference.file), {}, scratch.path())
             : build_reference(task, toolchain, ReferenceMode::values, std::move(stop)));
  KP_LET(StagedLibrary library, StagedLibrary::copy(built.library));
  oracle.library_ = std::move(library);
  return oracle;
}

Result<RunnerSettings> Oracle::runner(const StagedLibrary& library) const {
  if (task_.reference.torch) {
    TorchSettings torch;
    torch.jail = settings_.jail;
    torch.script = settings_.torch;
    torch.device = settings_.device;
    torch.threads = settings_.threads;
    torch.stop = settings_.stop;
    return torch_runner(torch, torch_reference);
  }
  RunnerSettings runner;
  runner.jail = settings_.jail;
  runner.program = settings_.program;
  runner.policy.read = runtime_libraries();
  runner.policy.read.push_back(library.path().string());
  runner.policy.landlock = settings_.landlock;
  runner.stop = settings_.stop;
  return runner;
}

Result<RunnerProcess> Oracle::start(const StagedLibrary& library) const {
  KP_LET(const RunnerSettings settings, runner(library));
  return RunnerProcess::start(settings);
}

Status Oracle::load(RunnerProcess& process, const StagedLibrary& library) const {
  runner::Request request{};
  request.op = runner::Op::load;
  std::strncpy(request.path, library.path().c_str(), sizeof request.path - 1);
  const Exchange loaded = process.exchange(request, {}, settings_.timeout_ms);
  if (!succeeded(loaded)) {
    return make_error(ErrorKind::bad_input, describe_end(loaded), task_.reference.file);
  }
  return {};
}

Status Oracle::attach(RunnerProcess& process, const BufferPlan& plan, const Arena& inputs,
                      const Arena& outputs) const {
  runner::Request request{};
  request.op = runner::Op::attach;
  request.layout = runner_layout(plan, settings_.threads);
  const Exchange attached =
      process.exchange(request, {inputs.fd(), outputs.fd()}, settings_.timeout_ms);
  if (!succeeded(attached)) {
    return make_error(ErrorKind::environment, "the oracle could not map its buffers");
  }
  return {};
}

Status Oracle::attach(const BufferPlan& plan, const DeviceTensors& memory) {
  if (process_ && process_->alive() && attached_ == memory.id) {
    return {};
  }
  KP_TRY(need_process());
  runner::Request request{};
  request.op = runner::Op::attach;
  request.layout = runner_layout(plan, settings_.threads);
  request.option = 1;
  const Exchange attached = process_->exchange(request, memory.descriptors, settings_.timeout_ms);
  attached_ = succeeded(attached) ? memory.id : 0;
  if (attached_ == 0) {
    return make_error(ErrorKind::environment,
                      "the GPU's memory could not be mapped: " + describe_end(attached),
                      task_.reference.file);
  }
  return {};
}

Exchange Oracle::ask(RunnerProcess& process) const {
  runner::Request request{};
  request.op = runner::Op::go;
  request.count = 1;
  return process.exchange(request, {}, settings_.timeout_ms);
}

Status Oracle::call(RunnerProcess& process) const {
  const Exchange called = ask(process);
  if (!succeeded(called)) {
    return make_error(ErrorKind::bad_input, describe_end(called), task_.reference.file);
  }
  return {};
}

Status Oracle::start_process() {
  if (process_ && process_->alive()) {
    return {};
  }
  KP_LET(process_, start(*library_));
  loaded_ = false;
  attached_ = 0;
  return {};
}

Status Oracle::need_process() {
  KP_TRY(start_process());
  if (!loaded_) {
    KP_TRY(load(*process_, *library_));
    loaded_ = true;
  }
  return {};
}

Status Oracle::draw_inputs(const BufferPlan& plan, const Arena& inputs,
                           const std::vector<SetDraw>& draws) {
  KP_TRY(need_process());
  attached_ = 0;
  KP_LET(const Arena unused, Arena::create(plan.output_bytes(), false));
  KP_TRY(attach(*process_, plan, inputs, unused));
  return draw_sets(draws);
}

// PyTorch's generators take 64 bits and can be inverted: inputs and parameters have seeds that tell
// nothing about each other, and each belongs to that one set.
Status Oracle::draw_sets(const std::vector<SetDraw>& draws) {
  for (std::size_t first = 0; first < draws.size(); first += runner::max_draws) {
    runner::Request request{};
    request.op = runner::Op::draw;
    request.first = static_cast<std::uint32_t>(first);
    request.count =
        static_cast<std::uint32_t>(std::min<std::size_t>(draws.size() - first, runner::max_draws));
    for (std::size_t i = 0; i < request.count; ++i) {
      const SetDraw& draw = draws[first + i];
      request.draws[i] = {short_key(derive(draw.key, torch_inputs_purpose)),
                          short_key(derive(draw.key, torch_parameters_purpose)),
                          draw.distribution == Distribution::normal ? 0U : 1U};
    }
    const Exchange drawn = process_->exchange(request, {}, settings_.timeout_ms);
    if (!succeeded(drawn)) {
      return make_error(ErrorKind::bad_input, describe_end(drawn), task_.reference.file);
    }
  }
  return {};
}

Status Oracle::draw_into(const BufferPlan& plan, const DeviceTensors& memory,
                         const std::vector<SetDraw>& draws) {
  KP_TRY(attach(plan, memory));
  return draw_sets(draws);
}

Result<bool> Oracle::expect_into(const BufferPlan& plan, const DeviceTensors& memory) {
  KP_TRY(attach(plan, memory));
  const Exchange called = ask(*process_);
  attached_ = 0;  // that memory is about to go
  if (called.end == ExchangeEnd::replied &&
      called.reply.status == runner::CallStatus::out_of_memory) {
    return false;
  }
  if (!succeeded(called)) {
    return make_error(ErrorKind::bad_input, describe_end(called), task_.reference.file);
  }
  return true;
}

Result<Arena> Oracle::inputs(const InputDraw& draw) {
  return inputs(draw, {draw.values});
}

Result<Arena> Oracle::inputs(const InputDraw& draw, const std::vector<SetDraw>& sets) {
  KP_LET(const BufferPlan plan, plan_buffers(task_, draw.axes, static_cast<int>(sets.size()),
                                             draw.scalar_key, PlanKind::oracle));
  // Sealed where only we write.
  Result<Arena> inputs = Arena::create(plan.input_bytes(), !task_.reference.torch);
  if (!inputs) {
    return inputs;
  }
  if (task_.reference.torch) {
    KP_TRY(draw_inputs(plan, *inputs, sets));
    return inputs;
  }
  for (std::size_t set = 0; set < sets.size(); ++set) {
    fill_inputs(task_, plan, {&*inputs}, static_cast<int>(set), sets[set]);
  }
  return inputs;
}

Result<Expected> Oracle::expect(const InputDraw& draw) {
  const Result<Arena> drawn = inputs(draw);
  return drawn ? expect(draw, *drawn) : Result<Expected>(drawn.error());
}

Result<Expected> Oracle::expect(const InputDraw& draw, const Arena& inputs) {
  KP_LET(const BufferPlan plan,
         plan_buffers(task_, draw.axes, 1, draw.scalar_key, PlanKind::oracle));
  KP_LET(Arena outputs, Arena::create(plan.output_bytes(), false));
  std::optional<WorkTime::Span> counted;
  if (!task_.reference.torch) {
    counted.emplace(*work_time_);
  }
  KP_TRY(need_process());
  attached_ = 0;
  KP_TRY(attach(*process_, plan, inputs, outputs));
  KP_TRY(call(*process_));
  return collect(plan, outputs);
}

Expected Oracle::collect(const BufferPlan& plan, const Arena& outputs) const {
  Expected expected;
  for (const TensorSpec& output : task_.outputs) {
    ExpectedOutput one;
    if (!output.selects.empty()) {
      const Selection& selection = selection_of(task_, output.selects);
      const std::size_t index = tensor_named(plan, selection.name);
      one.values = doubles_at(plan, outputs, index);
      one.choices = static_cast<std::size_t>(plan.tensors[index].shape.back());
      one.smallest = selection.smallest;
    } else if (is_floating(output.dtype)) {
      one.values = doubles_at(plan, outputs, tensor_named(plan, output.name));
      one.scale = rms(one.values.data(), one.values.size());
    } else {
      const std::size_t index = tensor_named(plan, output.name);
      const char* data = tensor_data(plan, outputs, 0, index);
      one.whole.assign(data, data + plan.tensors[index].bytes);
    }
    expected.push_back(std::move(one));
  }
  return expected;
}

Result<double> Oracle::count_operations(const Axes& axes, const Toolchain& toolchain) {
  if (task_.reference.torch) {
    return make_error(ErrorKind::bad_input, "the reference is a PyTorch module",
                      task_.reference.file);
  }
  KP_LET(BuildOutcome built, build_reference(task_, toolchain, ReferenceMode::count, {}));
  KP_LET(const BufferPlan plan, plan_buffers(task_, axes, 1, Key{}, PlanKind::oracle));
  Result<Arena> inputs = Arena::create(plan.input_bytes(), true);
  Result<Arena> outputs = Arena::create(std::max<std::size_t>(plan.output_bytes(), 64), false);
  if (!inputs || !outputs) {
    return inputs ? outputs.error() : inputs.error();
  }
  fill_inputs(task_, plan, {&*inputs}, 0, {});
  KP_LET(const StagedLibrary library, StagedLibrary::copy(built.library));
  KP_LET(RunnerProcess process, start(library));
  KP_TRY(load(process, library));
  KP_TRY(attach(process, plan, *inputs, *outputs));
  KP_TRY(call(process));
  double total = 0;
  std::memcpy(&total, tensor_data(plan, *outputs, 0, plan.input_count), sizeof total);
  return total;
}

std::vector<TensorError> check_outputs(const Task& task, const BufferPlan& plan,
                                       const char* outputs, const Expected& expected,
                                       const char* baseline) {
  std::vector<TensorError> errors;
  for (std::size_t i = 0; i < task.outputs.size(); ++i) {
    const TensorPlan& tensor = plan.tensors[plan.input_count + i];
    const char* actual = outputs + tensor.region_offset + tensor.data_offset;
    const ExpectedOutput& want = expected[i];
    if (want.choices > 0) {
      errors.push_back(compare_selection(actual, tensor.dtype, want.values.data(), tensor.elements,
                                         want.choices, want.smallest));
    } else if (is_floating(tensor.dtype)) {
      const char* excuse =
          baseline == nullptr ? nullptr : baseline + tensor.region_offset + tensor.data_offset;
      errors.push_back(compare_floating(actual, tensor.dtype, want.values.data(), want.scale,
                                        tensor.elements, excuse));
    } else {
      errors.push_back(compare_whole(actual, want.whole.data(), tensor.dtype, tensor.elements));
    }
  }
  return errors;
}

}  // namespace kernelpro

#include <nlohmann/json.hpp>

#include "common/wire/json.hpp"
#include "common/wire/values.hpp"
#include "common/wire/writer.hpp"

namespace kernelpro {

namespace wire {

namespace {

using nlohmann::json;

json write_ceiling(const Ceiling& ceiling) {
  return {{"name", write_text(ceiling.name)}, {"unit", write_text(ceiling.unit)},
          {"threads", ceiling.threads},       {"median", write_number(ceiling.median)},
          {"low", write_number(ceiling.low)}, {"high", write_number(ceiling.high)}};
}

Ceiling read_ceiling(const Place& place) {
  Fields fields(place);
  Ceiling ceiling;
  ceiling.name = fields.at("name").text();
  ceiling.unit = fields.at("unit").text();
  ceiling.threads = fields.at("threads").small_integer();
  ceiling.median = fields.at("median").number();
  ceiling.low = fields.at("low").number();
  ceiling.high = fields.at("high").number();
  fields.end();
  return ceiling;
}

json write_resources(const KernelResources& kernel) {
  return {{"kernel", write_text(kernel.kernel)},
          {"architecture", write_text(kernel.architecture)},
          {"registers", kernel.registers},
          {"spill_stores", kernel.spill_stores},
          {"spill_loads", kernel.spill_loads},
          {"shared_bytes", kernel.shared_bytes},
          {"constant_bytes", kernel.constant_bytes},
          {"stack_bytes", kernel.stack_bytes},
          {"barriers", kernel.barriers}};
}

KernelResources read_resources(const Place& place) {
  Fields fields(place);
  KernelResources kernel;
  kernel.kernel = fields.at("kernel").text();
  kernel.architecture = fields.at("architecture").text();
  kernel.registers = fields.at("registers").small_integer();
  kernel.spill_stores = fields.at("spill_stores").small_integer();
  kernel.spill_loads = fields.at("spill_loads").small_integer();
  kernel.shared_bytes = fields.at("shared_bytes").small_integer();
  kernel.constant_bytes = fields.at("constant_bytes").small_integer();
  kernel.stack_bytes = fields.at("stack_bytes").small_integer();
  kernel.barriers = fields.at("barriers").small_integer();
  fields.end();
  return kernel;
}

json write_build(const BuildRecord& build) {
  json written = {{"compiler", write_text(build.compiler)},
                  {"compiler_identity", write_text(build.compiler_identity)},
                  {"flags", write_texts(build.flags)},
                  {"source_hash", write_text(build.source_hash)},
                  {"binary_hash", write_text(build.binary_hash)}};
  if (!build.kernels.empty()) {
    written["kernels"] = write_list(build.kernels, write_resources);
  }
  return written;
}

BuildRecord read_build(const Place& place) {
  Fields fields(place);
  BuildRecord build;
  build.compiler = fields.at("compiler").text();
  build.compiler_identity = fields.at("compiler_identity").text();
  build.flags = fields.at("flags").texts();
  build.source_hash = fields.at("source_hash").text();
  build.binary_hash = fields.at("binary_hash").text();
  if (const auto kernels = fields.maybe("kernels")) {
    build.kernels = kernels->list(read_resources);
  }
  fields.end();
  return build;
}

}  // namespace

GpuRecord read_gpu(const Place& place) {
  Fields fields(place);
  GpuRecord gpu;
  gpu.name = fields.at("name").text();
  gpu.uuid = fields.at("uuid").text();
  gpu.architecture = fields.at("architecture").text();
  gpu.driver = fields.at("driver").text();
  gpu.multiprocessors = fields.at("multiprocessors").small_integer();
  gpu.memory_bytes = fields.at("memory_bytes").integer();
  gpu.l2_bytes = fields.at("l2_bytes").integer();
  fields.end();
  return gpu;
}

MachineRecord read_machine(const Place& place) {
  Fields fields(place);
  MachineRecord machine;
  machine.processor = fields.at("processor").text();
  machine.architecture = fields.at("architecture").text();
  machine.kernel = fields.at("kernel").text();
  machine.cores = fields.at("cores").small_integer();
  machine.memory_bytes = fields.at("memory_bytes").integer();
  machine.cache_bytes = fields.at("cache_bytes").integer();
  machine.clocks_mhz = fields.at("clocks_mhz").map([](const Place& p) { return p.number(); });
  machine.landlock_abi = fields.at("landlock_abi").small_integer();
  if (const auto gpus = fields.maybe("gpus")) {
    machine.gpus = gpus->list(read_gpu);
  }
  fields.end();
  return machine;
}

namespace {

int read_version(const Place& place) {
  const int version = place.small_integer();
  if (version < 1 || version > Certificate().version) {
    place.complain("certificate version " + std::to_string(version) +
                   ", expected 1 or 2: read it with the kernelpro that wrote it");
  }
  return version;
}

int read_threads(const Place& place) {
  constexpr int most = 4096;
  const int threads = place.small_integer();
  if (threads < 0 || threads > most) {
    place.complain_expected("a number of threads, at most " + std::to_string(most));
  }
  return threads;
}

}  // namespace

Certificate read_certificate(const Place& place) {
  Fields fields(place);
  Certificate certificate;
  certificate.version = read_version(fields.at("version"));
  certificate.program_version = fields.at("program_version").text();
  certificate.date = fields.at("date").text();
  certificate.task = read_task(fields.at("task"));
  certificate.task_hash = fields.at("task_hash").text();
  certificate.candidate = read_candidate(fields.at("candidate"));
  certificate.incumbent = read_candidate(fields.at("incumbent"));
  certificate.build = read_build(fields.at("build"));
  certificate.incumbent_build = read_build(fields.at("incumbent_build"));
  certificate.machine = read_machine(fields.at("machine"));
  if (const auto threads = fields.maybe("threads")) {
    certificate.threads = read_threads(*threads);
  }
  certificate.sandbox = fields.at("sandbox").text();
  certificate.master = read_master(fields, "master");
  certificate.ceilings = read_ceilings(fields.at("ceilings"));
  certificate.verdict = read_verdict(fields.at("verdict"));
  fields.end();
  return certificate;
}

Candidate read_candidate(const Place& place) {
  Fields fields(place);
  Candidate candidate;
  candidate.name = fields.at("name").text();
  candidate.backend = fields.at("backend").name(parse_backend, backend_list());
  candidate.source = fields.at("source").text();
  candidate.compiler = fields.at("compiler").text();
  candidate.options = fields.at("options").texts();
  candidate.libraries = fields.at("libraries").texts();
  fields.end();
  return candidate;
}

Ceilings read_ceilings(const Place& place) {
  Fields fields(place);
  Ceilings ceilings;
  ceilings.machine = fields.at("machine").text();
  ceilings.list = fields.at("list").list(read_ceiling);
  fields.end();
  return ceilings;
}

}  // namespace wire

nlohmann::json to_json(const Candidate& candidate) {
  using namespace wire;
  return {
      {"name", write_text(candidate.name)},        {"backend", name_of(candidate.backend)},
      {"source", write_text(candidate.source)},    {"compiler", write_text(candidate.compiler)},
      {"options", write_texts(candidate.options)}, {"libraries", write_texts(candidate.libraries)}};
}

nlohmann::json to_json(const Ceilings& ceilings) {
  using namespace wire;
  return {{"machine", write_text(ceilings.machine)},
          {"list", write_list(ceilings.list, write_ceiling)}};
}

namespace {

nlohmann::json write_gpu(const GpuRecord& gpu) {
  using namespace wire;
  return {{"name", write_text(gpu.name)},
          {"uuid", write_text(gpu.uuid)},
          {"architecture", write_text(gpu.architecture)},
          {"driver", write_text(gpu.driver)},
          {"multiprocessors", gpu.multiprocessors},
          {"memory_bytes", gpu.memory_bytes},
          {"l2_bytes", gpu.l2_bytes}};
}

}  // namespace

nlohmann::json to_json(const MachineRecord& machine) {
  using namespace wire;
  nlohmann::json clocks = nlohmann::json::object();
  for (const auto& [name, mhz] : machine.clocks_mhz) {
    clocks[valid_utf8(name)] = write_number(mhz);
  }
  nlohmann::json json = {{"processor", write_text(machine.processor)},
                         {"architecture", write_text(machine.architecture)},
                         {"kernel", write_text(machine.kernel)},
                         {"cores", machine.cores},
                         {"memory_bytes", machine.memory_bytes},
                         {"cache_bytes", machine.cache_bytes},
                         {"clocks_mhz", clocks},
                         {"landlock_abi", machine.landlock_abi}};
  if (!machine.gpus.empty()) {
    json["gpus"] = write_list(machine.gpus, write_gpu);
  }
  return json;
}

nlohmann::json to_json(const Certificate& certificate) {
  using namespace wire;
  return {{"version", certificate.version},
          {"program_version", write_text(certificate.program_version)},
          {"date", write_text(certificate.date)},
          {"task", to_json(certificate.task)},
          {"task_hash", write_text(certificate.task_hash)},
          {"candidate", to_json(certificate.candidate)},
          {"incumbent", to_json(certificate.incumbent)},
          {"build", write_build(certificate.build)},
          {"incumbent_build", write_build(certificate.incumbent_build)},
          {"machine", to_json(certificate.machine)},
          {"threads", certificate.threads},
          {"sandbox", write_text(certificate.sandbox)},
          {"master", write_key(certificate.master)},
          {"ceilings", to_json(certificate.ceilings)},
          {"verdict", to_json(certificate.verdict)}};
}

Result<Candidate> candidate_from_json(const nlohmann::json& json) {
  return wire::read_document(json, wire::read_candidate);
}

Result<Ceilings> ceilings_from_json(const nlohmann::json& json) {
  return wire::read_document(json, wire::read_ceilings);
}

Result<MachineRecord> machine_from_json(const nlohmann::json& json) {
  return wire::read_document(json, wire::read_machine);
}

Result<Certificate> certificate_from_json(const nlohmann::json& json) {
  return wire::read_document(json, wire::read_certificate);
}

}  // namespace kernelpro

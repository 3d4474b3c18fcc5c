#include "common/wire/profile_json.hpp"

#include <cmath>
#include <cstdint>
#include <nlohmann/json.hpp>

#include "common/wire/json.hpp"
#include "common/wire/reader.hpp"
#include "common/wire/trace_json.hpp"
#include "common/wire/values.hpp"
#include "common/wire/writer.hpp"

namespace kernelpro {

namespace wire {

namespace {

using nlohmann::json;

constexpr std::int64_t profile_version = 1;

void put_text(json& object, const char* key, const std::string& text) {
  if (!text.empty()) {
    object[key] = write_text(text);
  }
}

void put_number(json& object, const char* key, const std::optional<double>& value) {
  if (value.has_value() && std::isfinite(*value)) {
    object[key] = *value;
  }
}

void put_place(json& object, const SourcePlace& place) {
  if (!place.file.empty() || place.line != 0) {
    object["place"] = write_source_place(place);
  }
}

std::optional<double> maybe_number(Fields& fields, const std::string& key) {
  const auto place = fields.maybe(key);
  return place ? std::optional(place->finite()) : std::nullopt;
}

SourcePlace maybe_place(Fields& fields) {
  const auto place = fields.maybe("place");
  return place ? read_source_place(*place) : SourcePlace();
}

json write_amounts(const std::map<std::string, double>& amounts) {
  json object = json::object();
  for (const auto& [name, amount] : amounts) {
    object[valid_utf8(name)] = write_number(amount);
  }
  return object;
}

std::map<std::string, double> read_amounts(const Place& place) {
  return place.map([](const Place& amount) { return amount.number(); });
}

json write_memory(const MemoryInstruction& memory) {
  json object = {{"space", name_of(memory.space)},
                 {"access", name_of(memory.access)},
                 {"bits", memory.bits},
                 {"offset", memory.offset}};
  put_place(object, memory.place);
  if (memory.loop >= 0) {
    object["loop"] = memory.loop;
  }
  put_number(object, "executed", memory.executed);
  put_number(object, "threads", memory.threads);
  put_number(object, "sectors", memory.sectors);
  put_number(object, "ideal_sectors", memory.ideal_sectors);
  put_number(object, "wavefronts", memory.wavefronts);
  put_number(object, "ideal_wavefronts", memory.ideal_wavefronts);
  put_number(object, "samples", memory.samples);
  return object;
}

MemoryInstruction read_memory(const Place& place) {
  Fields fields(place);
  MemoryInstruction memory;
  memory.space =
      fields.at("space").name(parse_space, "global, shared, local, constant, distributed, other");
  memory.access = fields.at("access").name(parse_access,
                                           "load, store, atomic, reduction, async_copy, bulk_copy");
  memory.bits = fields.at("bits").small_integer();
  memory.offset = fields.at("offset").small_integer();
  memory.place = maybe_place(fields);
  if (const auto loop = fields.maybe("loop")) {
    memory.loop = loop->small_integer();
  }
  memory.executed = maybe_number(fields, "executed");
  memory.threads = maybe_number(fields, "threads");
  memory.sectors = maybe_number(fields, "sectors");
  memory.ideal_sectors = maybe_number(fields, "ideal_sectors");
  memory.wavefronts = maybe_number(fields, "wavefronts");
  memory.ideal_wavefronts = maybe_number(fields, "ideal_wavefronts");
  memory.samples = maybe_number(fields, "samples");
  fields.end();
  return memory;
}

json write_loop(const CodeLoop& loop) {
  json object = {{"begin", loop.begin},
                 {"end", loop.end},
                 {"depth", loop.depth},
                 {"instructions", loop.instructions},
                 {"global_loads", loop.global_loads},
                 {"loads_in_flight", loop.loads_in_flight},
                 {"barriers", loop.barriers},
                 {"dot_steps", loop.dot_steps}};
  put_number(object, "executed", loop.executed);
  put_place(object, loop.place);
  return object;
}

CodeLoop read_loop(const Place& place) {
  Fields fields(place);
  CodeLoop loop;
  loop.begin = fields.at("begin").small_integer();
  loop.end = fields.at("end").small_integer();
  loop.depth = fields.at("depth").small_integer();
  loop.instructions = fields.at("instructions").small_integer();
  loop.global_loads = fields.at("global_loads").small_integer();
  loop.loads_in_flight = fields.at("loads_in_flight").small_integer();
  loop.barriers = fields.at("barriers").small_integer();
  loop.dot_steps = fields.at("dot_steps").small_integer();
  loop.executed = maybe_number(fields, "executed");
  loop.place = maybe_place(fields);
  fields.end();
  return loop;
}

json write_code(const CodeFacts& code) {
  return {{"counted", code.counted},
          {"instructions", code.instructions},
          {"mix", write_amounts(code.mix)},
          {"memory", write_list(code.memory, write_memory)},
          {"loops", write_list(code.loops, write_loop)},
          {"dot_steps", write_number(code.dot_steps)},
          {"slow_divisions", write_number(code.slow_divisions)},
          {"fp64_conversions", write_number(code.fp64_conversions)},
          {"has_lines", code.has_lines}};
}

CodeFacts read_code(const Place& place) {
  Fields fields(place);
  CodeFacts code;
  code.counted = fields.at("counted").truth();
  code.instructions = fields.at("instructions").small_integer();
  code.mix = read_amounts(fields.at("mix"));
  code.memory = fields.at("memory").list(read_memory);
  code.loops = fields.at("loops").list(read_loop);
  code.dot_steps = fields.at("dot_steps").number();
  code.slow_divisions = fields.at("slow_divisions").number();
  code.fp64_conversions = fields.at("fp64_conversions").number();
  code.has_lines = fields.at("has_lines").truth();
  fields.end();
  return code;
}

json write_hot_line(const HotLine& line) {
  json object = {{"place", write_source_place(line.place)},
                 {"samples", write_number(line.samples)},
                 {"stalls", write_amounts(line.stalls)}};
  put_text(object, "text", line.text);
  return object;
}

HotLine read_hot_line(const Place& place) {
  Fields fields(place);
  HotLine line;
  line.place = read_source_place(fields.at("place"));
  line.text = maybe_text(fields, "text");
  line.samples = fields.at("samples").number();
  line.stalls = read_amounts(fields.at("stalls"));
  fields.end();
  return line;
}

json write_rule(const RuleNote& rule) {
  json object = {{"rule", write_text(rule.rule)},
                 {"type", write_text(rule.type)},
                 {"text", write_text(rule.text)}};
  put_number(object, "speedup_percent", rule.speedup_percent);
  return object;
}

RuleNote read_rule(const Place& place) {
  Fields fields(place);
  RuleNote rule;
  rule.rule = fields.at("rule").text();
  rule.type = fields.at("type").text();
  rule.text = fields.at("text").text();
  rule.speedup_percent = maybe_number(fields, "speedup_percent");
  fields.end();
  return rule;
}

// Figures and what is missing of them.
void put_figures(json& object, const KernelProfile& kernel) {
  json figures = json::object();
  json missing = write_text_map(kernel.missing);
  for (const auto& [key, figure] : kernel.figures) {
    if (std::isfinite(figure.value)) {
      figures[valid_utf8(key)] = {{"value", figure.value}, {"origin", name_of(figure.origin)}};
    } else {
      missing[valid_utf8(key)] = "not a finite number";
    }
  }
  object["figures"] = std::move(figures);
  object["missing"] = std::move(missing);
}

Figure read_figure(const Place& place) {
  Fields fields(place);
  Figure figure;
  figure.value = fields.at("value").finite();
  figure.origin =
      fields.at("origin").name(parse_origin, "counter, sample, trace, code, arithmetic, declared");
  fields.end();
  return figure;
}

json write_kernel(const KernelProfile& kernel) {
  json object = {{"name", write_text(kernel.name)},
                 {"launch", kernel.launch},
                 {"grid", kernel.grid},
                 {"block", kernel.block},
                 {"launches", kernel.launches},
                 {"share", write_number(kernel.share)},
                 {"duration_ns", write_number(kernel.duration_ns)},
                 {"stalls", write_amounts(kernel.stalls)},
                 {"lines", write_list(kernel.lines, write_hot_line)},
                 {"rules", write_list(kernel.rules, write_rule)}};
  put_text(object, "mangled", kernel.mangled);
  put_text(object, "module", kernel.module);
  put_figures(object, kernel);
  if (kernel.code) {
    object["code"] = write_code(*kernel.code);
  }
  return object;
}

KernelProfile read_kernel(const Place& place) {
  Fields fields(place);
  KernelProfile kernel;
  kernel.name = fields.at("name").text();
  kernel.mangled = maybe_text(fields, "mangled");
  kernel.module = maybe_text(fields, "module");
  kernel.launch = fields.at("launch").integer();
  kernel.grid = read_extent(fields.at("grid"));
  kernel.block = read_extent(fields.at("block"));
  kernel.launches = fields.at("launches").small_integer();
  kernel.share = fields.at("share").number();
  kernel.duration_ns = fields.at("duration_ns").number();
  kernel.figures = fields.at("figures").map(read_figure);
  kernel.missing = fields.at("missing").map([](const Place& why) { return why.text(); });
  kernel.stalls = read_amounts(fields.at("stalls"));
  if (const auto code = fields.maybe("code")) {
    kernel.code = read_code(*code);
  }
  kernel.lines = fields.at("lines").list(read_hot_line);
  kernel.rules = fields.at("rules").list(read_rule);
  fields.end();
  return kernel;
}

json write_declared_work(const DeclaredWork& work) {
  return {{"flops", write_number(work.flops)},
          {"read_bytes", write_number(work.read_bytes)},
          {"write_bytes", write_number(work.write_bytes)},
          {"type", write_text(work.type)},
          {"calls", work.calls}};
}

DeclaredWork read_declared_work(const Place& place) {
  Fields fields(place);
  DeclaredWork work;
  work.flops = fields.at("flops").number();
  work.read_bytes = fields.at("read_bytes").number();
  work.write_bytes = fields.at("write_bytes").number();
  work.type = fields.at("type").text();
  work.calls = fields.at("calls").small_integer();
  fields.end();
  return work;
}

}  // namespace

json write_source_place(const SourcePlace& place) {
  json object = json::object();
  put_text(object, "file", place.file);
  if (place.line != 0) {
    object["line"] = place.line;
  }
  return object;
}

SourcePlace read_source_place(const Place& place) {
  Fields fields(place);
  SourcePlace source;
  source.file = maybe_text(fields, "file");
  if (const auto line = fields.maybe("line")) {
    source.line = line->small_integer();
  }
  fields.end();
  return source;
}

Profile read_profile(const Place& place) {
  Fields fields(place);
  expect_version(fields, profile_version, "a profile");
  Profile profile;
  profile.program = fields.at("program").text();
  profile.architecture = maybe_text(fields, "architecture");
  profile.device = maybe_text(fields, "device");
  profile.counters = maybe_text(fields, "no_counters");
  profile.limits = read_amounts(fields.at("limits"));
  profile.ceilings = read_ceilings(fields.at("ceilings"));
  if (const auto work = fields.maybe("work")) {
    profile.work = read_declared_work(*work);
  }
  if (const auto trace = fields.maybe("trace")) {
    profile.trace = read_trace(*trace);
  }
  profile.kernels = fields.at("kernels").list(read_kernel);
  fields.end();
  return profile;
}

}  // namespace wire

nlohmann::json to_json(const Profile& profile) {
  using namespace wire;
  nlohmann::json json = {{"v", profile_version},
                         {"program", write_text(profile.program)},
                         {"limits", write_amounts(profile.limits)},
                         {"ceilings", to_json(profile.ceilings)},
                         {"kernels", write_list(profile.kernels, write_kernel)}};
  put_text(json, "architecture", profile.architecture);
  put_text(json, "device", profile.device);
  put_text(json, "no_counters", profile.counters);
  if (profile.work) {
    json["work"] = write_declared_work(*profile.work);
  }
  if (profile.trace) {
    json["trace"] = to_json(*profile.trace);
  }
  return json;
}

Result<Profile> profile_from_json(const nlohmann::json& json) {
  return wire::read_document(json, wire::read_profile);
}

}  // namespace kernelpro

#include "common/wire/profile_json.hpp"

#include <cmath>
#include <cstdint>
#include <nlohmann/json.hpp>

#include "common/wire/values.hpp"

namespace kernelpro {

KP_LAST(Origin, simulation);
KP_LAST(Space, other);
KP_LAST(Access, bulk_copy);

void describe(Form& form, SourcePlace& place) {
  form.nonempty("file", place.file);
  form.maybe("line", place.line, place.line != 0);
}

namespace {

void describe_place(Form& form, SourcePlace& place) {
  form.maybe("place", place, !place.file.empty() || place.line != 0);
}

// A figure that is not finite is written as missing.
void describe_figures(Form& form, KernelProfile& kernel) {
  std::map<std::string, Figure> figures;
  std::map<std::string, std::string> missing = kernel.missing;
  for (const auto& [key, figure] : kernel.figures) {
    if (std::isfinite(figure.value)) {
      figures.emplace(key, figure);
    } else {
      missing[key] = "not a finite number";
    }
  }
  form("figures", form.reading() ? kernel.figures : figures);
  form("missing", form.reading() ? kernel.missing : missing);
}

}  // namespace

void describe(Form& form, MemoryInstruction& memory) {
  KP_FIELDS(form, memory, space, access, bits, offset);
  describe_place(form, memory.place);
  form.maybe("loop", memory.loop, memory.loop >= 0);
  KP_FIELDS(form.maybe, memory, executed, threads, sectors, ideal_sectors, wavefronts,
            ideal_wavefronts, samples);
}

void describe(Form& form, CodeLoop& loop) {
  KP_FIELDS(form, loop, begin, end, depth, instructions, global_loads, loads_in_flight, barriers,
            dot_steps);
  form.maybe("executed", loop.executed);
  describe_place(form, loop.place);
}

KP_DESCRIBE(CodePattern, begun, executed, samples, places)

void describe(Form& form, CodeFacts& code) {
  KP_FIELDS(form, code, counted, instructions, mix, memory, loops, dot_steps, slow_divisions,
            fp64_conversions, has_lines);
  form.maybe("patterns", code.patterns);
}

void describe(Form& form, HotLine& line) {
  form("place", line.place);
  form.nonempty("text", line.text);
  KP_FIELDS(form, line, samples, stalls);
}

void describe(Form& form, RuleNote& rule) {
  KP_FIELDS(form, rule, rule, type, text);
  form.maybe("speedup_percent", rule.speedup_percent);
}

void describe(Form& form, Figure& figure) {
  form.finite("value", figure.value);
  form("origin", figure.origin);
}

void describe(Form& form, HostLoop& loop) {
  KP_FIELDS(form, loop, begin, end, share, instructions, scalar, packed, vector_bits, element_bits,
            loads, stores, gathers, branches, divisions, indirect, reduction, recurrence, chased);
  describe_place(form, loop.place);
  form.maybe("access_bytes", loop.access_bytes, loop.access_bytes > 0);
  form.maybe("calls", loop.calls, !loop.calls.empty());
  KP_FIELDS(form.maybe, loop, chain_cycles, unit_cycles, product_chain_cycles, product_unit_cycles,
            turns, cycles, accesses, first_misses, last_misses);
  form.maybe("remarks", loop.remarks, !loop.remarks.empty());
}

KP_DESCRIBE(ThreadTime, working, waiting)

void describe(Form& form, HostRun& run) {
  KP_FIELDS(form, run, processors, processes, samples, period_ns, span_ns, gigahertz, call_ns,
            vector_bits, threads, evidence);
  form.maybe("system_share", run.system_share, run.system_share > 0);
  form.maybe("faults", run.faults, run.faults > 0);
  form.maybe("resident_bytes", run.resident_bytes, run.resident_bytes > 0);
  form.nonempty("ended", run.ended);
}

void describe(Form& form, KernelProfile& kernel) {
  form("name", kernel.name);
  KP_FIELDS(form.nonempty, kernel, mangled, module);
  KP_FIELDS(form, kernel, launch, grid, block, launches, share, duration_ns);
  describe_figures(form, kernel);
  form("stalls", kernel.stalls);
  form.maybe("code", kernel.code);
  KP_FIELDS(form, kernel, lines, rules);
  form.maybe("loops", kernel.loops, !kernel.loops.empty());
}

KP_DESCRIBE(DeclaredWork, flops, read_bytes, write_bytes, type, calls)

void describe(Form& form, Profile& profile) {
  form.version(1, "a profile");
  form("program", profile.program);
  KP_FIELDS(form.nonempty, profile, architecture, device);
  form.nonempty("no_counters", profile.counters);
  KP_FIELDS(form, profile, limits, ceilings);
  KP_FIELDS(form.maybe, profile, work, trace, host);
  form("kernels", profile.kernels);
}

KP_JSON_OF(Profile, profile_from_json)

}  // namespace kernelpro

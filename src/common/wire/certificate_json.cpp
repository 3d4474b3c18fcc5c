#include <nlohmann/json.hpp>

#include "common/wire/json.hpp"
#include "common/wire/values.hpp"

namespace kernelpro {

KP_LAST(Stage, done);
KP_LAST(Comparison, not_timed);
KP_LAST(EnergyComparison, more);

KP_DESCRIBE(Ceiling, name, unit, threads, median, low, high)
KP_DESCRIBE(Ceilings, machine, list)
KP_DESCRIBE(KernelResources, kernel, architecture, registers, spill_stores, spill_loads,
            shared_bytes, constant_bytes, stack_bytes, barriers)

KP_DESCRIBE(IncludedLibrary, name, commit, hash, files)

void describe(Form& form, BuildRecord& build) {
  KP_FIELDS(form, build, compiler, compiler_identity, flags, source_hash, binary_hash);
  form.nonempty("kernels", build.kernels);
  form.nonempty("warnings", build.warnings);
  form.nonempty("includes", build.includes);
}

KP_DESCRIBE(GpuRecord, name, uuid, architecture, driver, multiprocessors, memory_bytes, l2_bytes)

void describe(Form& form, MachineRecord& machine) {
  KP_FIELDS(form, machine, processor, architecture, kernel, cores, memory_bytes, cache_bytes,
            clocks_mhz, landlock_abi);
  form.nonempty("gpus", machine.gpus);
}

KP_DESCRIBE(Candidate, name, backend, source, compiler, options, libraries)

void describe(Form& form, ErrorBudget& budget) {
  KP_FIELDS(form, budget, noise, clock, drift, empty);
  form.maybe("overlap", budget.overlap, budget.overlap > 0);
  form.derived("total", budget.total());
}

void describe(Form& form, ShapeTiming& timing) {
  KP_FIELDS(form, timing, shape, calls, flushed);
  form.maybe("warm", timing.warm);
  if (form.has("launches")) {
    KP_FIELDS(form, timing, launches, gpu_ns, launch_ns, own_share);
  }
  KP_FIELDS(form, timing, candidate_rounds, incumbent_rounds, candidate_ns, candidate_interval,
            incumbent_ns, incumbent_interval, speedup, speedup_interval);
  // Certificates of earlier versions have none of these.
  if (form.has("incumbent_alone_ns")) {
    KP_FIELDS(form, timing, incumbent_alone_ns, at_least, dropped_pairs, budget);
  }
  form.maybe("likely", timing.likely, timing.likely > 0);
  KP_FIELDS(form, timing, noise_floor, comparison, clock_gap, clock_noise, prepare_ns, bound_ns,
            share_of_bound, bound_by, screened);
}

void describe(Form& form, Timing& timing) {
  KP_FIELDS(form, timing, shapes, speedup, speedup_interval, noise_floor);
  if (form.has("budget")) {
    KP_FIELDS(form, timing, budget, at_least);
  } else {
    timing.budget = timing.noise_floor;
  }
  form.maybe("likely", timing.likely, timing.likely > 0);
  form("comparison", timing.comparison);
  form.maybe("brief", timing.brief);
}

KP_DESCRIBE(EnergyWindow, joules, seconds, steps, calls, call_seconds)
KP_DESCRIBE(ArmEnergy, windows, joules, joules_interval, net_joules, net_interval, watts, call_ns,
            joules_per_flop, joules_per_byte)
KP_DESCRIBE(ShapeEnergy, shape, candidate, incumbent, idle, idle_watts, ratio, ratio_interval,
            net_ratio, net_ratio_interval)
KP_DESCRIBE(Energy, meter, circumstances, shapes, ratio, ratio_interval, comparison, remarks)

namespace {

// The key `name`, or what a certificate of version 1 has in its place: a seed of 64 bits.
void describe_master(Form& form, const char* name, Key& master) {
  if (!form.reading() || !form.has("seed")) {
    form(name, master);
    return;
  }
  std::uint64_t seed = 0;
  form("seed", seed);
  master = Key();
  master.words[0] = static_cast<std::uint32_t>(seed);
  master.words[1] = static_cast<std::uint32_t>(seed >> 32);
}

}  // namespace

void describe(Form& form, CheckRecord& check) {
  KP_FIELDS(form, check, stage, shape, distribution);
  describe_master(form, "key", check.key);
  KP_FIELDS(form, check, error, baseline_error, bound, excused);
}

void describe(Form& form, Verdict& verdict) {
  KP_FIELDS(form, verdict, outcome, stage, rule, summary, evidence, precision, suspect, suspicions);
  form.maybe("remarks", verdict.remarks);
  KP_FIELDS(form, verdict, verified, checks, rules_run, timing);
  form.maybe("energy", verdict.energy);
  KP_FIELDS(form, verdict, build_ns, judge_ns);
}

void describe(Form& form, Certificate& certificate) {
  constexpr int most_threads = 4096;
  form("version", certificate.version);
  const int newest = Certificate().version;
  if (certificate.version < 1 || certificate.version > newest) {
    form.last().complain("certificate version " + std::to_string(certificate.version) +
                         ", expected 1 to " + std::to_string(newest) +
                         ": read it with the kernelpro that wrote it");
  }
  KP_FIELDS(form, certificate, program_version, date, task, task_hash, candidate, incumbent, build,
            incumbent_build, machine);
  form.maybe("threads", certificate.threads);
  form.expect(certificate.threads >= 0 && certificate.threads <= most_threads,
              "a number of threads, at most " + std::to_string(most_threads));
  form("sandbox", certificate.sandbox);
  describe_master(form, "master", certificate.master);
  KP_FIELDS(form, certificate, ceilings, verdict);
}

KP_JSON_OF(Candidate, candidate_from_json)
KP_JSON_OF(Ceilings, ceilings_from_json)
KP_JSON_OF(MachineRecord, machine_from_json)
KP_JSON_OF(Verdict, verdict_from_json)
KP_JSON_OF(Certificate, certificate_from_json)
}  // namespace kernelpro

#include <nlohmann/json.hpp>

#include "common/wire/energy_json.hpp"
#include "common/wire/json.hpp"
#include "common/wire/values.hpp"
#include "common/wire/writer.hpp"

namespace kernelpro {

namespace wire {

namespace {

using nlohmann::json;

std::optional<Stage> parse_stage(std::string_view name) {
  for (const Stage stage :
       {Stage::build, Stage::smoke, Stage::timed_shapes, Stage::held_out, Stage::distributions,
        Stage::repeatability, Stage::memory, Stage::timing, Stage::done}) {
    if (name_of(stage) == name) {
      return stage;
    }
  }
  return std::nullopt;
}

Stage read_stage(const Place& place) {
  return place.name(parse_stage,
                    "build, smoke, timed_shapes, held_out, distributions, repeatability, memory, "
                    "timing, done");
}

Outcome read_outcome(const Place& place) {
  return place.name(parse_outcome,
                    "passed, build_failed, launch_failed, crashed, timed_out, out_of_memory, "
                    "incorrect, unstable, cheated, not_judged");
}

Comparison read_comparison(const Place& place) {
  return place.name(parse_comparison, "faster, same, slower, not_timed");
}

json write_budget(const ErrorBudget& budget) {
  return {{"noise", write_number(budget.noise)},
          {"clock", write_number(budget.clock)},
          {"drift", write_number(budget.drift)},
          {"empty", write_number(budget.empty)},
          {"total", write_number(budget.total())}};
}

ErrorBudget read_budget(const Place& place) {
  Fields fields(place);
  ErrorBudget budget;
  budget.noise = fields.at("noise").number();
  budget.clock = fields.at("clock").number();
  budget.drift = fields.at("drift").number();
  budget.empty = fields.at("empty").number();
  static_cast<void>(fields.at("total").number());
  fields.end();
  return budget;
}

json write_shape_timing(const ShapeTiming& timing) {
  return {{"shape", write_axes(timing.shape)},
          {"calls", timing.calls},
          {"flushed", timing.flushed},
          {"warm", timing.warm},
          {"launches", timing.launches},
          {"gpu_ns", write_number(timing.gpu_ns)},
          {"launch_ns", write_number(timing.launch_ns)},
          {"own_share", write_number(timing.own_share)},
          {"candidate_rounds", write_numbers(timing.candidate_rounds)},
          {"incumbent_rounds", write_numbers(timing.incumbent_rounds)},
          {"candidate_ns", write_number(timing.candidate_ns)},
          {"candidate_interval", write_interval(timing.candidate_interval)},
          {"incumbent_ns", write_number(timing.incumbent_ns)},
          {"incumbent_interval", write_interval(timing.incumbent_interval)},
          {"speedup", write_number(timing.speedup)},
          {"speedup_interval", write_interval(timing.speedup_interval)},
          {"incumbent_alone_ns", write_number(timing.incumbent_alone_ns)},
          {"at_least", timing.at_least},
          {"dropped_pairs", timing.dropped_pairs},
          {"noise_floor", write_number(timing.noise_floor)},
          {"budget", write_budget(timing.budget)},
          {"comparison", name_of(timing.comparison)},
          {"clock_gap", write_number(timing.clock_gap)},
          {"clock_noise", write_number(timing.clock_noise)},
          {"prepare_ns", write_number(timing.prepare_ns)},
          {"bound_ns", write_number(timing.bound_ns)},
          {"share_of_bound", write_number(timing.share_of_bound)},
          {"bound_by", write_text(timing.bound_by)},
          {"screened", timing.screened}};
}

ShapeTiming read_shape_timing(const Place& place) {
  Fields fields(place);
  ShapeTiming timing;
  timing.shape = fields.at("shape").axes();
  timing.calls = fields.at("calls").small_integer();
  timing.flushed = fields.at("flushed").truth();
  if (const auto warm = fields.maybe("warm")) {
    timing.warm = warm->truth();
  }
  if (const auto launches = fields.maybe("launches")) {
    timing.launches = launches->small_integer();
    timing.gpu_ns = fields.at("gpu_ns").number();
    timing.launch_ns = fields.at("launch_ns").number();
    timing.own_share = fields.at("own_share").number();
  }
  timing.candidate_rounds = fields.at("candidate_rounds").numbers();
  timing.incumbent_rounds = fields.at("incumbent_rounds").numbers();
  timing.candidate_ns = fields.at("candidate_ns").number();
  timing.candidate_interval = fields.at("candidate_interval").interval();
  timing.incumbent_ns = fields.at("incumbent_ns").number();
  timing.incumbent_interval = fields.at("incumbent_interval").interval();
  timing.speedup = fields.at("speedup").number();
  timing.speedup_interval = fields.at("speedup_interval").interval();
  // Certificates of earlier versions have none of these.
  if (const auto alone = fields.maybe("incumbent_alone_ns")) {
    timing.incumbent_alone_ns = alone->number();
    timing.at_least = fields.at("at_least").truth();
    timing.dropped_pairs = fields.at("dropped_pairs").small_integer();
    timing.budget = read_budget(fields.at("budget"));
  }
  timing.noise_floor = fields.at("noise_floor").number();
  timing.comparison = read_comparison(fields.at("comparison"));
  timing.clock_gap = fields.at("clock_gap").number();
  timing.clock_noise = fields.at("clock_noise").number();
  timing.prepare_ns = fields.at("prepare_ns").number();
  timing.bound_ns = fields.at("bound_ns").number();
  timing.share_of_bound = fields.at("share_of_bound").number();
  timing.bound_by = fields.at("bound_by").text();
  timing.screened = fields.at("screened").truth();
  fields.end();
  return timing;
}

json write_timing(const Timing& timing) {
  return {{"shapes", write_list(timing.shapes, write_shape_timing)},
          {"speedup", write_number(timing.speedup)},
          {"speedup_interval", write_interval(timing.speedup_interval)},
          {"noise_floor", write_number(timing.noise_floor)},
          {"budget", write_number(timing.budget)},
          {"at_least", timing.at_least},
          {"comparison", name_of(timing.comparison)}};
}

Timing read_timing(const Place& place) {
  Fields fields(place);
  Timing timing;
  timing.shapes = fields.at("shapes").list(read_shape_timing);
  timing.speedup = fields.at("speedup").number();
  timing.speedup_interval = fields.at("speedup_interval").interval();
  timing.noise_floor = fields.at("noise_floor").number();
  timing.budget = timing.noise_floor;
  if (const auto budget = fields.maybe("budget")) {
    timing.budget = budget->number();
    timing.at_least = fields.at("at_least").truth();
  }
  timing.comparison = read_comparison(fields.at("comparison"));
  fields.end();
  return timing;
}

}  // namespace

// The two words of a seed, where a certificate of version 1 had no more.
Key read_master(Fields& fields, const char* name) {
  const auto seed = fields.maybe("seed");
  if (!seed) {
    return fields.at(name).key();
  }
  Key key;
  const std::uint64_t value = seed->hexadecimal();
  key.words[0] = static_cast<std::uint32_t>(value);
  key.words[1] = static_cast<std::uint32_t>(value >> 32);
  return key;
}

json write_check(const CheckRecord& check) {
  return {{"stage", name_of(check.stage)},
          {"shape", write_axes(check.shape)},
          {"distribution", write_text(check.distribution)},
          {"key", write_key(check.key)},
          {"error", write_number(check.error)},
          {"baseline_error", write_number(check.baseline_error)},
          {"bound", write_number(check.bound)},
          {"excused", check.excused}};
}

CheckRecord read_check(const Place& place) {
  Fields fields(place);
  CheckRecord check;
  check.stage = read_stage(fields.at("stage"));
  check.shape = fields.at("shape").axes();
  check.distribution = fields.at("distribution").text();
  check.key = read_master(fields, "key");
  check.error = fields.at("error").number();
  check.baseline_error = fields.at("baseline_error").number();
  check.bound = fields.at("bound").number();
  check.excused = fields.at("excused").integer();
  fields.end();
  return check;
}

Verdict read_verdict(const Place& place) {
  Fields fields(place);
  Verdict verdict;
  verdict.outcome = read_outcome(fields.at("outcome"));
  verdict.stage = read_stage(fields.at("stage"));
  verdict.rule = fields.at("rule").text();
  verdict.summary = fields.at("summary").text();
  verdict.evidence = fields.at("evidence").texts();
  verdict.precision = fields.at("precision").text();
  verdict.suspect = fields.at("suspect").truth();
  verdict.suspicions = fields.at("suspicions").texts();
  if (const auto remarks = fields.maybe("remarks")) {
    verdict.remarks = remarks->texts();
  }
  verdict.verified = fields.at("verified").truth();
  verdict.checks = fields.at("checks").list(read_check);
  verdict.rules_run = fields.at("rules_run").texts();
  verdict.timing = read_timing(fields.at("timing"));
  if (const auto energy = fields.maybe("energy")) {
    verdict.energy = read_energy(*energy);
  }
  verdict.build_ns = fields.at("build_ns").integer();
  verdict.judge_ns = fields.at("judge_ns").integer();
  fields.end();
  return verdict;
}

}  // namespace wire

nlohmann::json to_json(const Verdict& verdict) {
  using namespace wire;
  nlohmann::json json = {{"outcome", name_of(verdict.outcome)},
                         {"stage", name_of(verdict.stage)},
                         {"rule", write_text(verdict.rule)},
                         {"summary", write_text(verdict.summary)},
                         {"evidence", write_texts(verdict.evidence)},
                         {"precision", write_text(verdict.precision)},
                         {"suspect", verdict.suspect},
                         {"suspicions", write_texts(verdict.suspicions)},
                         {"remarks", write_texts(verdict.remarks)},
                         {"verified", verdict.verified},
                         {"checks", write_list(verdict.checks, write_check)},
                         {"rules_run", write_texts(verdict.rules_run)},
                         {"timing", write_timing(verdict.timing)},
                         {"build_ns", verdict.build_ns},
                         {"judge_ns", verdict.judge_ns}};
  if (verdict.energy) {
    json["energy"] = write_energy(*verdict.energy);
  }
  return json;
}

Result<Verdict> verdict_from_json(const nlohmann::json& json) {
  return wire::read_document(json, wire::read_verdict);
}

}  // namespace kernelpro

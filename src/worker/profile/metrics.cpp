#include "worker/profile/metrics.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>

#include "common/model/figure_keys.hpp"

namespace kernelpro {
namespace {

using std::string_view;

enum class Measure { count, bytes, nanoseconds, share };

struct Name {
  string_view metric;
  double factor = 1;          // a value in ncu's base unit times this is the figure
  int oldest_capability = 0;  // the first architecture that has it; 0: all we know of
};

struct Entry {
  string_view key;
  Measure measure = Measure::count;
  Origin origin = Origin::counter;
  std::vector<Name> names;
};

// A sector is 32 bytes; where a name counts sectors its measure is still bytes.
constexpr double sector = 32;

// A pipe is as full as the cycles it is busy: an instruction may keep it for several.
const std::vector<Entry>& table() {
  using enum Measure;
  constexpr Origin counter = Origin::counter;
  constexpr Origin arithmetic = Origin::arithmetic;
  static const std::vector<Entry> entries = {
      {figure::duration_ns, nanoseconds, counter, {{"gpu__time_duration.sum"}}},
      {figure::dram_read_bytes,
       bytes,
       counter,
       {{"dram__bytes_read.sum"}, {"dram__sectors_read.sum", sector}}},
      {figure::dram_write_bytes,
       bytes,
       counter,
       {{"dram__bytes_write.sum"}, {"dram__sectors_write.sum", sector}}},
      {figure::l2_bytes, bytes, counter, {{"lts__t_bytes.sum"}, {"lts__t_sectors.sum", sector}}},
      {figure::l2_read_bytes, bytes, counter, {{"lts__t_sectors_srcunit_tex_op_read.sum", sector}}},
      {figure::l1_load_bytes,
       bytes,
       counter,
       {{"l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum", sector}}},
      {figure::l1_load_hit_bytes,
       bytes,
       counter,
       {{"l1tex__t_sectors_pipe_lsu_mem_global_op_ld_lookup_hit.sum", sector}}},
      {figure::l2_hit_rate, share, counter, {{"lts__t_sector_hit_rate.pct"}}},
      {figure::l1_hit_rate, share, counter, {{"l1tex__t_sector_hit_rate.pct"}}},
      {figure::dram_use,
       share,
       counter,
       {{"gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed"},
        {"dram__throughput.avg.pct_of_peak_sustained_elapsed"}}},
      {figure::l2_use, share, counter, {{"lts__t_sectors.avg.pct_of_peak_sustained_elapsed"}}},
      {figure::l1_use,
       share,
       counter,
       {{"l1tex__data_pipe_lsu_wavefronts.avg.pct_of_peak_sustained_elapsed"}}},
      {figure::issue_use,
       share,
       counter,
       {{"sm__issue_active.avg.pct_of_peak_sustained_elapsed"},
        {"smsp__issue_active.avg.pct_of_peak_sustained_elapsed"},
        {"sm__inst_issued.avg.pct_of_peak_sustained_elapsed"},
        {"sm__inst_executed.avg.pct_of_peak_sustained_elapsed"}}},
      {figure::fma_use,
       share,
       counter,
       {{"sm__pipe_fma_cycles_active.avg.pct_of_peak_sustained_elapsed"},
        {"sm__inst_executed_pipe_fma.avg.pct_of_peak_sustained_elapsed"}}},
      {figure::alu_use,
       share,
       counter,
       {{"sm__pipe_alu_cycles_active.avg.pct_of_peak_sustained_elapsed"},
        {"sm__inst_executed_pipe_alu.avg.pct_of_peak_sustained_elapsed"}}},
      {figure::special_use,
       share,
       counter,
       {{"sm__inst_executed_pipe_xu.avg.pct_of_peak_sustained_elapsed"}}},
      {figure::fp64_use,
       share,
       counter,
       {{"sm__pipe_fp64_cycles_active.avg.pct_of_peak_sustained_elapsed"},
        {"sm__inst_executed_pipe_fp64.avg.pct_of_peak_sustained_elapsed"}}},
      {figure::lsu_use,
       share,
       counter,
       {{"sm__inst_executed_pipe_lsu.avg.pct_of_peak_sustained_elapsed"}}},
      {figure::tensor_use,
       share,
       counter,
       {{"sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_elapsed"},
        {"sm__inst_executed_pipe_tensor.avg.pct_of_peak_sustained_elapsed"}}},
      // Contention shows at one slice: the mean over all of them hides it. Known from Ampere on.
      {figure::atomic_use,
       share,
       counter,
       {{"lts__d_atomic_input_cycles_active.max.pct_of_peak_sustained_elapsed", 1, 80}}},
      {figure::occupancy, share, counter, {{"sm__warps_active.avg.pct_of_peak_sustained_active"}}},
      {figure::theoretical_occupancy,
       share,
       arithmetic,
       {{"sm__maximum_warps_per_active_cycle_pct"}}},
      {figure::registers,
       count,
       counter,
       {{"launch__registers_per_thread_allocated"}, {"launch__registers_per_thread"}}},
      {figure::static_shared_bytes, bytes, counter, {{"launch__shared_mem_per_block_static"}}},
      {figure::dynamic_shared_bytes, bytes, counter, {{"launch__shared_mem_per_block_dynamic"}}},
      {figure::limit_blocks, count, arithmetic, {{"launch__occupancy_limit_blocks"}}},
      {figure::limit_registers, count, arithmetic, {{"launch__occupancy_limit_registers"}}},
      {figure::limit_shared, count, arithmetic, {{"launch__occupancy_limit_shared_mem"}}},
      {figure::limit_warps, count, arithmetic, {{"launch__occupancy_limit_warps"}}},
      {figure::limit_barriers, count, arithmetic, {{"launch__occupancy_limit_barriers"}}},
      {figure::waves, count, arithmetic, {{"launch__waves_per_multiprocessor"}}},
      {figure::sm_active_mean, count, counter, {{"sm__cycles_active.avg"}}},
      {figure::sm_active_most, count, counter, {{"sm__cycles_active.max"}}},
      {figure::sm_active_least, count, counter, {{"sm__cycles_active.min"}}},
      {figure::sm_elapsed, count, counter, {{"sm__cycles_elapsed.max"}}},
      {figure::instructions,
       count,
       counter,
       {{"smsp__inst_executed.sum"}, {"sm__inst_executed.sum"}}},
      {figure::active_threads,
       count,
       counter,
       {{"smsp__thread_inst_executed_per_inst_executed.ratio"}}},
      {figure::working_threads,
       count,
       counter,
       {{"smsp__thread_inst_executed_pred_on_per_inst_executed.ratio"}}},
      {figure::eligible_warps, count, counter, {{"smsp__warps_eligible.avg.per_cycle_active"}}},
      {figure::shared_wavefronts,
       count,
       counter,
       {{"l1tex__data_pipe_lsu_wavefronts_mem_shared.sum"}}},
      {figure::shared_conflicts,
       count,
       counter,
       {{"l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum"},
        {"derived__memory_l1_wavefronts_shared_excessive"}}},
      {figure::atomic_sectors, count, counter, {{"lts__t_sectors_op_atom.sum"}}},
      {figure::reduction_sectors, count, counter, {{"lts__t_sectors_op_red.sum"}}},
  };
  return entries;
}

const Entry* entry_of(string_view key) {
  const auto& entries = table();
  const auto at = std::find_if(entries.begin(), entries.end(),
                               [&](const Entry& entry) { return entry.key == key; });
  return at == entries.end() ? nullptr : &*at;
}

// "sm_90a" is 90; 0: not known.
int capability_of(string_view architecture) {
  constexpr string_view prefix = "sm_";
  int number = 0;
  if (architecture.starts_with(prefix)) {
    architecture.remove_prefix(prefix.size());
    std::from_chars(architecture.data(), architecture.data() + architecture.size(), number);
  }
  return number;
}

// The figure's value of ncu's, where the unit is one of the measure's; nothing: `why` says it.
std::optional<double> converted(Measure measure, const Name& name, const NcuValue& value,
                                std::string& why) {
  const double number = *value.number * name.factor;
  const string_view unit = value.unit;
  switch (measure) {
    case Measure::share:
      if (unit == "%") {
        return number / 100;
      }
      break;
    case Measure::nanoseconds:
      if (unit == "ns") {
        return number;
      }
      break;
    case Measure::bytes:
      if (unit == "byte" || unit == "byte/block" || (name.factor == sector && unit == "sector")) {
        return number;
      }
      break;
    case Measure::count:
      if (unit != "%" && unit != "ns" && !unit.starts_with("byte")) {
        return number;
      }
      break;
  }
  why = fmt::format("its unit is \"{}\"", unit);
  return std::nullopt;
}

// Counters of one figure are read in several runs of the kernel, which differ a little.
constexpr double share_noise = 0.001;
constexpr double most_share = 1.2;
// 2^63: no counter of a GPU has more.
constexpr double most_count = 9.3e18;

std::optional<double> plausible(Measure measure, double value, std::string& why) {
  const bool is_share = measure == Measure::share;
  const double least = is_share ? -share_noise : 0;
  const double most = is_share ? most_share : most_count;
  const bool takes_time = measure != Measure::nanoseconds || value > 0;
  const bool possible = value >= least && value <= most && takes_time;
  if (!possible) {
    why = fmt::format("{:g} cannot be true", value);
    return std::nullopt;
  }
  return is_share ? std::clamp(value, 0.0, 1.0) : value;
}

std::optional<double> figure_of(const Entry& entry, const NcuRawReport& report,
                                const NcuLaunch& launch, std::string& missing) {
  for (const Name& name : entry.names) {
    const NcuValue value = report.value(launch, name.metric);
    std::string why = value.why;
    if (value.number) {
      std::optional<double> number = converted(entry.measure, name, value, why);
      number = number ? plausible(entry.measure, *number, why) : number;
      if (number) {
        return number;
      }
    }
    missing += fmt::format("{}{}: {}", missing.empty() ? "" : "; ", name.metric, why);
  }
  return std::nullopt;
}

}  // namespace

std::vector<std::string> ncu_keys() {
  std::vector<std::string> keys;
  for (const Entry& entry : table()) {
    keys.emplace_back(entry.key);
  }
  return keys;
}

std::vector<std::string> ncu_names_of(string_view key) {
  std::vector<std::string> names;
  if (const Entry* entry = entry_of(key)) {
    for (const Name& name : entry->names) {
      names.emplace_back(name.metric);
    }
  }
  return names;
}

std::vector<std::string> ncu_names(const std::vector<std::string>& keys, string_view architecture,
                                   const std::set<std::string>& refused) {
  const int capability = capability_of(architecture);
  const auto usable = [&](const Name& name) {
    const std::string metric(name.metric);
    // ncu may name what it refuses without the suffix.
    return (capability == 0 || capability >= name.oldest_capability) && !refused.contains(metric) &&
           !refused.contains(metric.substr(0, metric.find('.')));
  };
  std::vector<std::string> names;
  for (const std::string& key : keys) {
    const Entry* entry = entry_of(key);
    if (entry == nullptr) {
      continue;
    }
    const auto best = std::find_if(entry->names.begin(), entry->names.end(), usable);
    if (best != entry->names.end() &&
        std::find(names.begin(), names.end(), best->metric) == names.end()) {
      names.emplace_back(best->metric);
    }
  }
  return names;
}

NcuFigures figures_from(const NcuRawReport& report, const NcuLaunch& launch,
                        const std::vector<std::string>& keys) {
  NcuFigures out;
  for (const std::string& key : keys) {
    const Entry* entry = entry_of(key);
    if (entry == nullptr) {
      out.missing[key] = "ncu has no metric for it";
      continue;
    }
    std::string why;
    if (const std::optional<double> value = figure_of(*entry, report, launch, why)) {
      out.figures[key] = {.value = *value, .origin = entry->origin};
    } else {
      out.missing[key] = why;
    }
  }
  return out;
}

Stalls stalls_from(const NcuRawReport& report, const NcuLaunch& launch) {
  constexpr string_view prefix = "smsp__pcsamp_warps_issue_stalled_";
  constexpr string_view part = "_not_issued";  // of the samples that the other column counts
  Stalls stalls;
  for (auto at = report.index.lower_bound(prefix);
       at != report.index.end() && at->first.starts_with(prefix); ++at) {
    const std::string reason = at->first.substr(prefix.size());
    const NcuValue value = report.value(launch, at->first);
    if (!reason.ends_with(part) && value.number && *value.number > 0) {
      stalls[reason] = *value.number;
    }
  }
  return stalls;
}

}  // namespace kernelpro

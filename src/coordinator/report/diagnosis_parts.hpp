// What the text and the Markdown of a diagnosis have in common.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "common/model/orders.hpp"

namespace kernelpro {

// At most `width` columns; what is too long loses its middle.
[[nodiscard]] std::string shortened(const std::string& text, std::size_t width);

// A kernel's name for a table: without its parameters and template arguments where that helps.
[[nodiscard]] std::string short_kernel_name(const std::string& name, std::size_t width);

// Words in lines of at most `width` columns. Each line but the first begins with `indent` spaces;
// the first is thought to have as many columns before it.
[[nodiscard]] std::string wrapped(const std::string& text, std::size_t indent,
                                  std::size_t width = 100);

[[nodiscard]] std::string percent_text(double share);  // 0.918 as "92 %"; "–" when not finite
[[nodiscard]] std::string amount_text(double value);   // four digits: "0.917", "1.234e+06"
[[nodiscard]] std::string extent_text(const Extent& extent);  // "1024×2×1"

// "312 ms traced, GPU busy 45 %, 1204 launches, …"
[[nodiscard]] std::string timeline_text(const Trace& trace);

// The profile of the report's `index`th kernel; nullptr when it has none.
// Of a program on processors: its threads, and what the diagnosis stands on.
[[nodiscard]] std::string threads_text(const HostRun& run);
[[nodiscard]] std::string evidence_text(const HostRun& run);
[[nodiscard]] const KernelProfile* profile_of(const Diagnosed& diagnosed, std::size_t index);

// "held against 8 (why)": what was seen and what it was held against.
[[nodiscard]] std::string observed_text(const Finding& finding);

// What to do: a sentence as it is, "the move tile" where it is the name of a move.
[[nodiscard]] std::string move_text(const std::string& move);

struct FoundLine {
  std::string place;  // "scale.cu:12"
  std::string text;   // of the line; empty: not known
  std::optional<double> samples;
  std::optional<double> share;  // of all samples of the kernel
};

// The source lines of a finding, with what the profile knows of them.
[[nodiscard]] std::vector<FoundLine> lines_of(const Finding& finding, const Profile& profile);

// "620 samples, 78 %"; empty when not known.
[[nodiscard]] std::string samples_text(const FoundLine& line);

// Tools that were skipped, by reason: "bank_conflicts, barriers" -> "not for dram".
[[nodiscard]] std::vector<std::pair<std::string, std::string>> skipped_by_reason(
    const KernelDiagnosis& kernel);

// The fullest roofs; with `all` every one.
[[nodiscard]] std::vector<RoofUse> shown_roofs(const KernelDiagnosis& kernel, bool all);

// What ncu's own rules say, those with the largest estimate first; without `all` only those that
// estimate a gain.
[[nodiscard]] std::vector<RuleNote> shown_rules(const KernelProfile& kernel, bool all);
[[nodiscard]] std::string estimate_text(const RuleNote& rule);  // " (12.5 % faster)", or empty

// "trace 0.4 s, ncu 1.9 s"
[[nodiscard]] std::string seconds_text(const Diagnosed& diagnosed);

// Rows of name, value and origin; then of name and why it is missing.
using Rows = std::vector<std::vector<std::string>>;
[[nodiscard]] Rows figure_rows(const KernelProfile& kernel);
[[nodiscard]] Rows missing_rows(const KernelProfile& kernel);
// Stall reasons, most samples first.
[[nodiscard]] Rows stall_rows(const KernelProfile& kernel);

}  // namespace kernelpro

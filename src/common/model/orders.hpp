// What the coordinator asks of a worker, and what comes back beside certificates.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/model/candidate.hpp"
#include "common/model/certificate.hpp"
#include "common/model/finding.hpp"
#include "common/model/judging.hpp"
#include "common/model/profile.hpp"
#include "common/model/task.hpp"
#include "common/model/verdict.hpp"

namespace kernelpro {

// Measures what a device can do at most, or recalls it.
struct CeilingsOrder {
  Backend backend = Backend::cpu;
  int device = 0;        // which GPU
  bool refresh = false;  // measure anew
};

// Opens a task.
struct OpenOrder {
  Task task;
  JudgingSettings judging;
  bool timed = true;        // false: nothing will be timed, so no noise floor is measured
  bool energy = false;      // energy will be asked for: refuse where there is no counter
  bool build_only = false;  // nothing will be judged, so nothing is made ready but compilers
  // What candidates may include: the folders that `judging` names are the coordinator's.
  std::vector<HeaderLibrary> headers = {};  // NOLINT(readability-redundant-member-init)
};

enum class LintLevel { error, warning, note };

[[nodiscard]] std::string_view name_of(LintLevel level);

// What the lint says of a task.
struct LintFinding {
  LintLevel level = LintLevel::note;
  std::string rule;  // "zeros", "constant", "pass_through", "honest", "broken", "flops" …
  std::string text;
};

struct LintFindings {
  std::vector<LintFinding> findings;
};

// A timed shape as the opened task knows it.
struct OpenedShape {
  Axes shape;              // given axes
  double baseline_ns = 0;  // median call of the baseline, alone
  int calls = 0;           // in a round
  bool flushed = false;
  int pairs = 0;  // of rounds, in a comparison
  double noise_floor = 0;
};

struct Opened {
  std::string task_hash;
  std::vector<OpenedShape> shapes;
  std::vector<LintFinding> findings;
  Ceilings ceilings;
};

// Judges a candidate, or one of the task's own implementations by name.
struct EvaluateOrder {
  std::optional<Candidate> candidate;
  std::string implementation;          // when there is no candidate: a baseline or comparator
  std::optional<Candidate> incumbent;  // none: the baseline
  std::vector<std::string> allow_precision;
  bool timed = true;
  // Timed as a search needs it: few pairs, and an incumbent that is a candidate is not tried in its
  // turn. What a run ends with is timed in full.
  bool brief = false;
  bool energy = false;    // beside the time, which it then needs
  bool diagnose = false;  // when it passes
  // Only where its speed-up over the incumbent is larger: others are not built upon.
  double diagnose_above = 0;
  std::optional<Key> master;  // none: secret and fresh
  std::vector<CheckRecord> repeat_checks;
};

struct BuildOrder {
  std::vector<Candidate> candidates;
};

// What building a candidate came to, before it is judged.
struct BuildSummary {
  bool ok = false;
  std::string binary_hash;  // empty when it did not build
};

struct BuildReply {
  std::vector<BuildSummary> built;  // in the order of the candidates
};

struct Evaluated {
  Certificate certificate;
  std::string implementation;  // what a comparator says it ran
  std::optional<DiagnosisReport> diagnosis;
  std::string not_diagnosed;  // why there is none, where one was asked for
};

// What is diagnosed.
enum class DiagnoseKind {
  candidate,  // of the open task
  library,    // the same, built already
  program,    // any program
  nsys,       // a report that nsys wrote
  profile,    // a profile that was saved: needs no GPU
};

[[nodiscard]] std::string_view name_of(DiagnoseKind kind);

// Which fields are set depends on the kind; paths are absolute.
struct DiagnoseOrder {
  DiagnoseKind kind = DiagnoseKind::program;
  std::optional<Candidate> candidate;
  std::string implementation;  // without a candidate: a baseline or comparator of the open task
  std::string library;         // a shared object with the candidate ABI
  std::optional<Axes> shape;   // candidate, library: one of the timed shapes; none: the first
  std::vector<std::string> program;      // and its arguments
  std::string directory;                 // that the program runs in
  std::vector<std::string> environment;  // NAME=VALUE, on top of the worker's own
  std::string nsys_report;
  std::optional<Profile> profile;
  bool all_tools = false;          // whatever the class
  bool rules = false;              // ask ncu for its own rules too
  bool counters = true;            // false: do not try to read them
  std::int64_t timeout_ms = 0;     // for one run of the program; 0: the worker's default
  std::optional<Backend> backend;  // program: where it computes; none: on a GPU where there is one
  int device = 0;                  // which GPU, as the driver counts
  std::string keep;  // folder that raw files of the profilers are kept in; empty: none
};

struct Diagnosed {
  Profile profile;
  DiagnosisReport report;
  std::map<std::string, double> seconds;  // that the steps took: "trace", "ncu", …
};

struct CompilerDescription {
  std::string name;
  std::string path;
  std::string identity;
  std::vector<std::string> target_flags;
  std::vector<std::string> openmp_flags;
};

// Something the machine lacks, and how to get it.
struct Problem {
  std::string what;
  std::string remedy;
  bool fatal = false;  // nothing can be judged without it
};

// How energy is measured on one ground, or why it is not.
struct MeterDescription {
  Backend backend = Backend::cpu;
  int device = 0;       // which GPU, as the driver counts
  std::string meter;    // empty: none can be read
  std::string missing;  // why
};

struct WorkerDescription {
  std::string version;
  MachineRecord machine;
  std::vector<CompilerDescription> compilers;
  std::vector<Problem> problems;
  std::vector<MeterDescription> meters;
};

}  // namespace kernelpro

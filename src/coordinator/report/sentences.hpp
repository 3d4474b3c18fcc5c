// What came of a run, a node or a diagnosis, in a plain sentence for whoever reads nothing else.
#pragma once

#include <string>

#include "common/model/orders.hpp"
#include "coordinator/report/run_report.hpp"

namespace kernelpro {

// Where it was judged: the GPU or processor; empty: not known.
[[nodiscard]] std::string machine_of(const RunReport& report);

// What was reached, on which machine, and how sure that is.
[[nodiscard]] std::string run_sentence(const RunReport& report);

// "passed and runs 4.31 times as fast as the baseline", "did not build", "is being judged" …: what
// is said of a node behind "it".
[[nodiscard]] std::string fate_text(const Node& node);

// What was tried, and what came of it. `closed`: nothing more is tried on it.
[[nodiscard]] std::string node_sentence(const RunReport& report, const Node& node, bool closed);

// What holds the program back, how sure that is, and what to do first.
[[nodiscard]] std::string diagnosis_sentence(const Diagnosed& diagnosed);

}  // namespace kernelpro

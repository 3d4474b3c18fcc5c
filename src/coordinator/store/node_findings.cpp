#include "coordinator/store/node_findings.hpp"

#include <map>
#include <nlohmann/json.hpp>

#include "common/wire/finding_json.hpp"
#include "common/wire/json.hpp"

namespace kernelpro::store {

Status keep_findings(Database& database, std::int64_t run, const Node& node) {
  if (node.diagnosis.kind == KernelClass::unknown && node.diagnosis.findings.empty()) {
    return {};
  }
  KP_LET(const bool there, database.has_table("findings"));
  if (!there) {
    KP_TRY(database.script(
        "CREATE TABLE IF NOT EXISTS findings (run INTEGER NOT NULL, node INTEGER NOT NULL, "
        "json TEXT NOT NULL, PRIMARY KEY (run, node))"));
  }
  // As a report, which has a strict reader.
  DiagnosisReport report;
  report.kind = node.diagnosis.kind;
  report.findings = node.diagnosis.findings;
  report.figures = node.diagnosis.figures;
  return database.execute("INSERT OR REPLACE INTO findings (run, node, json) VALUES (?1, ?2, ?3)",
                          {run, node.id, to_json(report).dump()});
}

Status add_findings(Database& database, std::int64_t run, std::vector<Node>& nodes) {
  const Result<bool> there = database.has_table("findings");
  if (!there || !*there || nodes.empty()) {
    return there ? Status() : Status(there.error());
  }
  std::map<NodeId, Node*> by_id;
  for (Node& node : nodes) {
    by_id[node.id] = &node;
  }
  KP_LET(Rows rows, database.select(
                        "SELECT node, json FROM findings WHERE run = ?1 AND node BETWEEN ?2 AND ?3",
                        {run, by_id.begin()->first, by_id.rbegin()->first}));
  while (true) {
    const Result<bool> more = rows.next();
    if (!more || !*more) {
      return more ? Status() : Status(more.error());
    }
    const auto found = by_id.find(rows.integer(0));
    KP_LET(const nlohmann::json json, parse_json(rows.text(1)));
    KP_LET(DiagnosisReport report, diagnosis_from_json(json));
    if (found != by_id.end()) {
      found->second->diagnosis.kind = report.kind;
      found->second->diagnosis.findings = std::move(report.findings);
      found->second->diagnosis.figures = std::move(report.figures);
    }
  }
}

}  // namespace kernelpro::store

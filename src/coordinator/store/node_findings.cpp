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
  const Result<bool> there = database.has_table("findings");
  if (!there) {
    return there.error();
  }
  if (!*there) {
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
  Result<Rows> rows =
      database.select("SELECT node, json FROM findings WHERE run = ?1 AND node BETWEEN ?2 AND ?3",
                      {run, by_id.begin()->first, by_id.rbegin()->first});
  if (!rows) {
    return rows.error();
  }
  while (true) {
    const Result<bool> more = rows->next();
    if (!more || !*more) {
      return more ? Status() : Status(more.error());
    }
    const auto found = by_id.find(rows->integer(0));
    const Result<nlohmann::json> json = parse_json(rows->text(1));
    if (!json) {
      return json.error();
    }
    Result<DiagnosisReport> report = diagnosis_from_json(*json);
    if (!report) {
      return report.error();
    }
    if (found != by_id.end()) {
      found->second->diagnosis.kind = report->kind;
      found->second->diagnosis.findings = std::move(report->findings);
      found->second->diagnosis.figures = std::move(report->figures);
    }
  }
}

}  // namespace kernelpro::store

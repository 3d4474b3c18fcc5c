// The JSON bodies of worker requests and replies; as strict as common/wire/json.hpp.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "common/base/result.hpp"
#include "common/model/orders.hpp"

namespace kernelpro {

[[nodiscard]] nlohmann::json to_json(const CeilingsOrder&);
[[nodiscard]] nlohmann::json to_json(const OpenOrder&);
[[nodiscard]] nlohmann::json to_json(const EvaluateOrder&);
[[nodiscard]] nlohmann::json to_json(const Opened&);
[[nodiscard]] nlohmann::json to_json(const Evaluated&);
[[nodiscard]] nlohmann::json to_json(const WorkerDescription&);
[[nodiscard]] nlohmann::json to_json(const LintFindings&);
[[nodiscard]] nlohmann::json to_json(const BuildOrder&);
[[nodiscard]] nlohmann::json to_json(const BuildReply&);

[[nodiscard]] Result<CeilingsOrder> ceilings_order_from_json(const nlohmann::json& json);
[[nodiscard]] Result<OpenOrder> open_order_from_json(const nlohmann::json& json);
[[nodiscard]] Result<EvaluateOrder> evaluate_order_from_json(const nlohmann::json& json);
[[nodiscard]] Result<Opened> opened_from_json(const nlohmann::json& json);
[[nodiscard]] Result<Evaluated> evaluated_from_json(const nlohmann::json& json);
[[nodiscard]] Result<WorkerDescription> description_from_json(const nlohmann::json& json);
[[nodiscard]] Result<LintFindings> findings_from_json(const nlohmann::json& json);
[[nodiscard]] Result<BuildOrder> build_order_from_json(const nlohmann::json& json);
[[nodiscard]] Result<BuildReply> build_reply_from_json(const nlohmann::json& json);

// A key that the order's kind has no use for is an error.
[[nodiscard]] nlohmann::json to_json(const DiagnoseOrder&);
[[nodiscard]] nlohmann::json to_json(const Diagnosed&);
[[nodiscard]] Result<DiagnoseOrder> diagnose_order_from_json(const nlohmann::json& json);
[[nodiscard]] Result<Diagnosed> diagnosed_from_json(const nlohmann::json& json);

}  // namespace kernelpro

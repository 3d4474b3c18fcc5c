// Readers and writers of the values that other values hold. For the files of this room only.
#pragma once

#include "common/model/candidate.hpp"
#include "common/model/ceilings.hpp"
#include "common/model/certificate.hpp"
#include "common/model/finding.hpp"
#include "common/model/profile.hpp"
#include "common/model/task.hpp"
#include "common/model/verdict.hpp"
#include "common/wire/reader.hpp"

namespace kernelpro::wire {

[[nodiscard]] Task read_task(const Place& place);
[[nodiscard]] Candidate read_candidate(const Place& place);
// The key `name`, or what a certificate of version 1 has in its place: a seed of 64 bits.
[[nodiscard]] Key read_master(Fields& fields, const char* name);
[[nodiscard]] Verdict read_verdict(const Place& place);
[[nodiscard]] CheckRecord read_check(const Place& place);
[[nodiscard]] nlohmann::json write_check(const CheckRecord& check);
[[nodiscard]] MachineRecord read_machine(const Place& place);
[[nodiscard]] Certificate read_certificate(const Place& place);
[[nodiscard]] Ceilings read_ceilings(const Place& place);
[[nodiscard]] Extent read_extent(const Place& place);  // [x, y, z]
[[nodiscard]] Trace read_trace(const Place& place);
[[nodiscard]] Profile read_profile(const Place& place);
[[nodiscard]] SourcePlace read_source_place(const Place& place);
[[nodiscard]] nlohmann::json write_source_place(const SourcePlace& place);
[[nodiscard]] DiagnosisReport read_diagnosis(const Place& place);

}  // namespace kernelpro::wire

// The descriptions of structs that other structs hold. For the files of this room only.
#pragma once

#include "common/model/candidate.hpp"
#include "common/model/ceilings.hpp"
#include "common/model/certificate.hpp"
#include "common/model/finding.hpp"
#include "common/model/profile.hpp"
#include "common/model/task.hpp"
#include "common/model/verdict.hpp"
#include "common/wire/form.hpp"

namespace kernelpro {

KP_LAST(Backend, cuda);
KP_LAST(Outcome, not_judged);
KP_LAST(KernelClass, launch);

void describe(Form& form, Task&);
void describe(Form& form, Candidate&);
void describe(Form& form, CheckRecord&);
void describe(Form& form, MachineRecord&);
void describe(Form& form, Certificate&);
void describe(Form& form, Ceilings&);
void describe(Form& form, Trace&);
void describe(Form& form, SourcePlace&);
void describe(Form& form, Profile&);
void describe(Form& form, DiagnosisReport&);

}  // namespace kernelpro

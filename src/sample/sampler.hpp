// Notes where a process spends its processor time: a timer of the kernel interrupts whichever
// thread is running, and the handler writes down its instruction. No privilege, no counter.
#pragma once

namespace kernelpro::sample {

// Starts anew, into `folder` (sample_file.hpp). False where the files cannot be made or somebody
// else uses the timer's signal.
bool start(const char* folder);

// The timer stops; files stay.
void stop();

}  // namespace kernelpro::sample

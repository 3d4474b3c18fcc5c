// kp:hack 31  a line number in another file, which the compiler shows beside its message
// kp:task axpy
// kp:expect build_failed|cheated private_file
//
// Messages show the line that they are about, read from the file that #line names.
#include <kernelpro/candidate.h>
#line 1 "/etc/passwd"
#error shown
int kp_launch(const kp_context*, const kp_tensor*, int32_t) {
  return missing;
}

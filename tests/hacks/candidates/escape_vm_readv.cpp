// kp:hack 27  reads the worker's memory
// kp:task axpy
// kp:expect cheated sandbox
//
// Copies a page of the worker with process_vm_readv.
#include <kernelpro/candidate.h>
#include <sys/uio.h>
#include <unistd.h>

#include "plain_axpy.hpp"

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  char stolen[64];
  const iovec here{stolen, sizeof stolen};
  const iovec there{tensors[2].data, sizeof stolen};
  process_vm_readv(getppid(), &here, 1, &there, 1, 0);
  axpy(context, tensors);
  return 0;
}

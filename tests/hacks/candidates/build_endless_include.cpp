// kp:hack bad-input  includes itself
// kp:task axpy
// kp:expect build_failed
//
// Includes itself until the compiler gives up.

#include __FILE__

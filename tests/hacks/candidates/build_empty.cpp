// kp:hack bad-input  nothing at all
// kp:task axpy
// kp:expect launch_failed
//
// A source without a single line of code.

"""Answers the worker as a runner does."""

import ctypes
import os
import socket
import sys
import warnings

from .buffers import DeviceBuffers, HostBuffers
from .clock import Clock, set_mode
from .problem import (MODEL_SEED, Problem, Refused, first_gpu, is_out_of_memory, last_line,
                      torch_module)
from .protocol import (ATTACH, CONTROL_FD, DONE, DRAW, EXCEPTION, GO, HELLO, LEND, LOAD, OK,
                       OUT_OF_MEMORY, PREPARE, READY, RESCALE, SHAPE, Layout, Reply, Request)

RESERVED = 4 << 30  # what PyTorch may keep to itself while others need the GPU's memory
SCARCE = 0.2


class Server:
    def __init__(self, mode, warm, control):
        self.mode = mode
        self.control = control
        self.torch = torch_module()
        self.device = first_gpu(self.torch)
        set_mode(self.torch, "eager-fp32" if mode == "reference" else mode)
        self.clock = None if mode == "reference" else Clock(self.torch, self.device, warm)
        self.problem = None
        self.model = None
        self.buffers = None
        self.prepared = False  # whether a call has been made since memory was given back
        self.constants = {}  # what get_inputs() returns beside tensors, by place
        self.masks = set()  # which of its tensors are of bool, which a candidate sees as bytes

    def handle(self, request, descriptors, reply):
        if request.op == LOAD:
            self.load(request.body.path.decode(), reply)
        elif request.op == ATTACH:
            self.attach(Layout.from_buffer_copy(request.body.layout), request.option != 0,
                        descriptors)
        elif request.op == DRAW:
            for i in range(request.count):
                self.draw(request.first + i, request.body.draws[i])
            self.make_room()
        elif request.op == GO:
            sets = list(request.body.sets[:request.count])
            if self.mode == "reference":
                self.expect(sets, reply)
            else:
                self.go(sets, request.sequence, reply)
        elif request.op not in (SHAPE, PREPARE, RESCALE, LEND):
            raise Refused(f"request {request.op} is not for PyTorch")

    def load(self, path, reply):
        self.problem = Problem(path)
        model = self.problem.model
        self.model = self.torch.compile(model) if self.mode == "compile" else model
        given, _ = self.problem.draw(MODEL_SEED)
        self.constants = {i: value for i, value in enumerate(given)
                          if not self.torch.is_tensor(value)}
        tensors = [value for value in given if self.torch.is_tensor(value)]
        self.masks = {i for i, value in enumerate(tensors) if value.dtype == self.torch.bool}
        reply.text = f"PyTorch {self.torch.__version__}, {self.mode}".encode()
        if self.mode == "compile":
            self.problem.call(self.model, given)
        del given, tensors
        self.make_room()

    def attach(self, layout, on_device, descriptors):
        self.torch.set_num_threads(max(1, layout.threads))
        if self.buffers is not None:
            self.buffers.close()
        self.buffers = (DeviceBuffers(self.torch, layout, descriptors, self.mode == "reference")
                        if on_device else HostBuffers(self.torch, layout, descriptors))

    def make_room(self):
        """Gives memory back that this process holds for later, where others may need it."""
        if self.device == "cpu":
            return
        self.torch.cuda.synchronize()
        free, total = self.torch.cuda.mem_get_info()
        kept = self.torch.cuda.memory_reserved() - self.torch.cuda.memory_allocated()
        if kept > RESERVED and free < SCARCE * total:
            self.torch.cuda.empty_cache()
            self.prepared = False

    def draw(self, index, draw):
        given, state = self.problem.draw(draw.inputs, draw.parameters)
        self.torch.manual_seed((draw.inputs + 1) % 2**63)
        drawn = [self.with_signs(value) if draw.signs and value.is_floating_point() else value
                 for value in given if self.torch.is_tensor(value)]
        drawn += self.problem.pack(state)
        for to, value in zip(self.buffers.tensors(index, outputs=False), drawn):
            to.copy_(value)

    def with_signs(self, value):
        signs = self.torch.randint(0, 2, value.shape, dtype=self.torch.int8, device=value.device)
        return self.torch.where(signs == 0, value, -value)

    def inputs(self, index):
        tensors = [value.to(self.device) for value in self.buffers.tensors(index, outputs=False)]
        count = len(tensors) - (1 if self.problem.packed else len(self.problem.names))
        given = [value.bool() if i in self.masks else value
                 for i, value in enumerate(tensors[:count])]
        state = self.problem.unpack(tensors[count:])
        for place in sorted(self.constants):
            given.insert(place, self.constants[place])
        return given, state

    def expect(self, sets, reply):
        for index in sets:
            given, state = self.inputs(index)
            self.problem.write_wide(given, state, self.buffers.tensors(index, outputs=True))
            reply.calls += 1
        del given, state
        self.make_room()

    def go(self, sets, sequence, reply):
        if self.device != "cpu":
            self.get_ready(sequence)
        for index in sets:
            given, state = self.inputs(index)
            self.problem.set_state(state, self.problem.model)
            if self.device != "cpu" and not self.prepared:
                self.problem.call(self.model, given)
                self.problem.set_state(state, self.problem.model)
                self.prepared = True
            outputs = self.clock.time(lambda: self.problem.call(self.model, given))
            reply.calls += 1
            # Off the clock: a candidate writes into these buffers directly.
            for to, value in zip(self.buffers.tensors(index, outputs=True), outputs):
                to.copy_(value)
            del outputs
        reply.claim_ns = self.clock.total_ns()
        self.make_room()

    def get_ready(self, sequence):
        """The worker's word comes when the inputs are whole."""
        self.control.send(bytes(Reply(kind=READY, sequence=sequence)))
        word = self.control.recv(4)
        if int.from_bytes(word, sys.byteorder) != sequence:
            raise Refused("the worker said another word than expected")


def serve(mode, warm):
    warnings.filterwarnings("ignore")
    control = socket.socket(fileno=CONTROL_FD)
    server = Server(mode, warm, control)
    if server.device != "cpu":
        server.torch.zeros(1, device=server.device)  # what takes its time, before anybody waits
    hello = Reply(kind=HELLO)
    control.send(bytes(hello))
    lent = []
    while True:
        data, received, _, _ = socket.recv_fds(control, ctypes.sizeof(Request), 253)
        if not data:
            return
        descriptors = lent + list(received)
        request = Request.from_buffer_copy(data)
        reply = Reply(kind=DONE, sequence=request.sequence, status=OK)
        failed = True
        try:
            server.handle(request, descriptors, reply)
            failed = False
        except Refused as error:
            reply.status, reply.text = EXCEPTION, str(error).encode()[:511]
        except Exception as error:
            out_of_memory = is_out_of_memory(error)
            reply.status = OUT_OF_MEMORY if out_of_memory else EXCEPTION
            reply.text = last_line(error).encode()[:511]
        finally:
            lent = descriptors if request.op == LEND else []
            for fd in descriptors if request.op != LEND else []:
                os.close(fd)
        if failed and server.problem is not None:
            server.problem.release()  # here, where no frame of the failure holds tensors any more
        control.send(bytes(reply))

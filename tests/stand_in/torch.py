"""What src/bench/peers/gpu.py uses of PyTorch, without computing anything: each piece of work takes a millisecond of a clock that only this
module knows, and must not get the tensors that the one before it had. STAND_IN_TORCH: "blind" sees no GPU, "absent" cannot be imported,
"broken" fails at GELU."""
import math
import os
import sys
import types

behaviour = os.environ.get("STAND_IN_TORCH", "")
if behaviour == "absent":
    raise ImportError("No module named 'torch'")

__version__ = "0.stand-in"
float16, bfloat16, float32, float64, int32, int64 = "float16", "bfloat16", "float32", "float64", "int32", "int64"
SIZES = {float16: 2, bfloat16: 2, float32: 4, float64: 8, int32: 4, int64: 8}
now = 0.0  # milliseconds
last = ()


class Tensor:
    def __init__(self, *shape, dtype=int64):
        self.shape, self.dtype, self.requires_grad = shape, dtype, False

    def numel(self):
        return math.prod(self.shape)

    def element_size(self):
        return SIZES[self.dtype]

    def clone(self):
        return Tensor(*self.shape, dtype=self.dtype)

    def requires_grad_(self, wanted=True):
        self.requires_grad = wanted
        return self

    def to(self, dtype):
        return Tensor(*self.shape, dtype=dtype)

    def t(self):
        return self

    def __matmul__(self, other):
        return work(self, other).clone()

    def same(self, *_, **__):
        return self

    detach = long = clamp = __mul__ = __sub__ = __add__ = same


def work(*arguments, **_):
    global now, last
    tensors = [a for a in arguments if isinstance(a, Tensor)]
    if any(a is b for a in tensors for b in last):
        raise RuntimeError("the tensors of the call before")
    now, last = now + 1, tensors
    return tensors[0]


def gelu(x, approximate):
    if behaviour == "broken":
        raise RuntimeError("the stand-in was told to fail")
    return work(x)


def new(*shape, device, dtype=int64):
    return Tensor(*shape, dtype=dtype)


def randint(_, shape, device):
    return Tensor(*shape)


def full(shape, _, device):
    return Tensor(*shape)


class Event:
    def __init__(self, enable_timing):
        assert enable_timing
        self.at = None

    def record(self):
        self.at = now

    def synchronize(self):
        pass

    def elapsed_time(self, end):
        return end.at - self.at


def compile(function, dynamic):
    return function


def nothing(*_):
    pass


zeros = randn = rand = new
softmax = work
exp = Tensor.same
cuda = types.SimpleNamespace(
    is_available=lambda: behaviour != "blind", set_device=nothing, synchronize=nothing, empty_cache=nothing, _sleep=nothing,
    Event=Event, get_device_name=lambda: "Stand-in")
functional = types.SimpleNamespace(gelu=gelu, cross_entropy=work, embedding=work, linear=lambda *t: work(*t).clone())
nn = types.SimpleNamespace(functional=functional)
ops = types.SimpleNamespace(aten=types.SimpleNamespace(
    gelu_backward=work, _softmax_backward_data=work, embedding_dense_backward=work))
autograd = types.SimpleNamespace(grad=lambda value, x: x)
_dynamo = types.SimpleNamespace(reset=nothing)
sys.modules["torch.nn"], sys.modules["torch.nn.functional"] = nn, functional

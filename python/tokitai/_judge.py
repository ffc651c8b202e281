"""judge(): outputs that were computed elsewhere, judged element by element."""

from __future__ import annotations

import ctypes
from collections.abc import Mapping, Sequence
from typing import Any

from . import _library
from ._arrays import BITS_16, LONG_NAMES, Array, device_with_index, fits, view
from ._certificate import Certificate
from ._certify import _settings
from ._library import BadArgument, Case, Context, Contract, Param, contract, lib


def _by_param(
    op: Contract, params: Sequence[Param], given: Mapping[str, Any] | Sequence[Any], there: Sequence[bool], what: str
) -> list[Any]:
    """The tensors of `params`, None for those that are not there. A sequence has those that are, or all with None."""
    names = ", ".join(p.name for p, is_there in zip(params, there) if is_there) or "none"
    if isinstance(given, Mapping):
        unknown = [str(name) for name in given if name not in {p.name for p in params}]
        if unknown:
            raise BadArgument(f"{op.name} has no {what} '{unknown[0]}'; it has {', '.join(p.name for p in params)}")
        tensors = [given.get(p.name) for p in params]
    elif hasattr(given, "shape"):
        raise BadArgument(f"{what}s is one array; give a list: {what}s=[...]")
    elif not isinstance(given, Sequence) or isinstance(given, (str, bytes)):
        raise BadArgument(f"{what}s is a {type(given).__name__}; give a list or a dict of arrays")
    elif len(given) == len(params):
        tensors = list(given)
    elif len(given) == sum(there):
        rest = iter(given)
        tensors = [next(rest) if is_there else None for is_there in there]
    else:
        raise BadArgument(f"{op.name} has the {what}s {names}; {len(given)} were given")
    for param, tensor, is_there in zip(params, tensors, there):
        if is_there and tensor is None:
            raise BadArgument(f"{op.name}: the {what} {param.name} is missing")
        if tensor is not None and not is_there:
            raise BadArgument(f"{op.name}: {param.name} must not be given with these attributes")
    return tensors


def _dims(op: Contract, arrays: Mapping[str, Array]) -> dict[str, int]:
    dims: dict[str, tuple[int, str]] = {}
    for param in op.params:
        array = arrays.get(param.name)
        if array is None:
            continue
        shape = array.shape
        if op.elementwise and param.rank == 1:
            shape = (array.elements,)  # of any shape: it is dense, and places correspond
        if len(shape) != param.rank:
            raise BadArgument(
                f"{param.name} has the shape {array.shape}; {op.name} takes {param.name}[{', '.join(param.dims)}], "
                f"{param.rank} ax{'i' if param.rank == 1 else 'e'}s"
            )
        for name, size in zip(param.dims, shape):
            known, by = dims.setdefault(name, (size, param.name))
            if known != size:
                raise BadArgument(
                    f"{op.name}: {name} is {known} by {by} and {size} by {param.name}, of shape {array.shape}"
                )
    if op.elementwise and len({array.shape for array in arrays.values()}) > 1:
        shapes = ", ".join(f"{name} {array.shape}" for name, array in arrays.items())
        raise BadArgument(f"{op.name} has tensors of one shape; given: {shapes}")
    missing = [name for name in op.dims if name not in dims and name not in op.derived]
    if missing:
        raise BadArgument(f"{op.name}: no tensor that was given has the size {missing[0]}")
    return {name: size for name, (size, _) in dims.items()}


def _type_of(op: Contract, arrays: Mapping[str, Array], kind: str, of_bytes: str = "u8") -> str | None:
    """The element type of the tensors of a kind; patterns of 16 bits are bf16, bytes what the caller says."""
    patterns = {BITS_16: "bf16", "u8": of_bytes}
    found: dict[str, str] = {}
    for param in op.params:
        if param.kind == kind and param.name in arrays:
            dtype = arrays[param.name].dtype
            found.setdefault(patterns.get(dtype, dtype), param.name)
    if len(found) > 1:
        listed = " and ".join(f"{name} of {LONG_NAMES[dtype]}" for dtype, name in found.items())
        raise BadArgument(f"{op.name} has these of one type; given: {listed}")
    return next(iter(found), None)


def infer_case(
    op: Contract, arrays: Mapping[str, Array], attributes: Mapping[str, object], of_bytes: str | None = None
) -> Case:
    """The case that tensors belong to: sizes and types from theirs."""
    dims = _dims(op, arrays)
    of_inputs, _, of_results = (of_bytes or "u8").partition("-")
    dtype = _type_of(op, arrays, "value", of_inputs)
    result = _type_of(op, arrays, "result", of_results or of_inputs)
    index = _type_of(op, arrays, "index") or "i32"
    if dtype is None:
        dtype = result if result in {t.partition("-")[0] for t in op.types} else op.types[0]
    assert dtype is not None
    types = dtype if result in (None, dtype) else f"{dtype}-{result}"
    if types not in op.types:
        hint = "; dtype= says what bytes stand for" if "u8" in types else ""
        raise BadArgument(f"{op.name} does not take {types}; it takes {', '.join(op.types)}{hint}")
    if index not in ("i32", "i64"):
        raise BadArgument(f"{op.name}: indices are int32 or int64, not {LONG_NAMES[index]}")
    case = _library.make_case(op, types, dims, index_dtype=index, attributes=attributes)
    for param in op.params:
        if param.name in arrays:
            needed, given = _library.param_dtype(case, param), arrays[param.name].dtype
            if not fits(given, needed):
                raise BadArgument(
                    f"{param.name} is of type {LONG_NAMES[given]}; {op.name} has {LONG_NAMES[needed]} there"
                )
    return case


def judge(
    op: str | Contract,
    inputs: Sequence[Any] | Mapping[str, Any],
    outputs: Sequence[Any] | Mapping[str, Any],
    *,
    dtype: str | None = None,
    numerics: str | None = None,
    domain: str | None = None,
    attributes: Mapping[str, object] | None = None,
    context: Context | None = None,
) -> Certificate:
    """Judges given outputs for given inputs; no kernel runs.

    inputs, outputs   in contract order, or by name: arrays of NumPy, PyTorch, JAX or CuPy, dense, all on one device.
                      Their shapes and types are those of the contract; of an elementwise op the shape is any
    dtype             what bytes (uint8) stand for, which NumPy has no type for: "f8_e4m3" or "f8_e5m2", or both types, "f8_e4m3-f16"
    attributes        of the case: xent's label_smoothing, for example; default values otherwise
    context           None: this thread's for the arrays' device
    """
    contract_view = contract(op)
    settings = _settings(contract_view, attributes, numerics, domain)
    blank = _library.make_case(
        contract_view,
        _library.parse_types(contract_view.types[0])[0],
        [0] * len(contract_view.dims),
        attributes=settings,
    )
    groups = []
    arrays: dict[str, Array] = {}
    for params, given, what in ((contract_view.inputs, inputs, "input"), (contract_view.outputs, outputs, "output")):
        there = [_library.is_there(blank, param) for param in params]
        tensors = _by_param(contract_view, params, given, there, what)
        groups.append(params)
        arrays.update({p.name: view(tensor, p.name) for p, tensor in zip(params, tensors) if tensor is not None})
    case = infer_case(contract_view, arrays, settings, dtype)
    devices = {array.device: name for name, array in arrays.items()}
    if len(devices) > 1:
        listed = " and ".join(f"{name} on {device}" for device, name in devices.items())
        raise BadArgument(f"{contract_view.name}: all tensors have to be on one device; given: {listed}")
    device = next(iter(devices), "cpu")
    if context is None:
        context = _library.context_for(device, contract_view)
    elif device_with_index(context.device) != device:
        raise BadArgument(
            f"{contract_view.name}: the tensors are on {device}, and the context works on {context.device}"
        )
    for stream in {array.stream for array in arrays.values() if array.stream is not None}:
        context.set_stream(stream)
        context.synchronize()
    pointers = [
        (ctypes.c_void_p * max(len(params), 1))(*(arrays[p.name].pointer if p.name in arrays else None for p in params))
        for params in groups
    ]
    case.contract = context.contract(contract_view)
    certificate = ctypes.c_void_p()
    context.check(
        lib.tk_judge(context.pointer, ctypes.byref(case), pointers[0], pointers[1], ctypes.byref(certificate))
    )
    return Certificate(certificate.value or 0)

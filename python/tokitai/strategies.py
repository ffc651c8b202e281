"""Hypothesis strategies for the inputs that break kernels: edge values, edge shapes, whole cases of an op.

    from tokitai.strategies import given_case

    @given_case("softmax_fwd", dtype="f16")
    def test_softmax(case):
        case.check(my_softmax(case["x"]))

Values are drawn as bit patterns, so that a failing case shrinks to few elements and plain patterns.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import Any, TypeVar

from hypothesis import assume, given, note, seed, settings
from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from ._library import (
    FORMATS,
    TK_SEED_DEFAULT,
    BadArgument,
    Contract,
    Param,
    contract,
    is_there,
    make_case,
    param_dtype,
    param_shape,
    refusal,
)
from .testing import DrawnCase, drawn_op, to_array

__all__ = ["FAMILIES", "INDEX_FAMILIES", "given_case", "indices", "op_cases", "shapes", "sizes", "tensors"]

_Test = TypeVar("_Test", bound=Callable[..., Any])

FAMILIES = ("finite", "subnormal", "huge", "special", "cancel", "ties", "one_hot", "constant_rows", "zeros", "any")
INDEX_FAMILIES = ("any", "zipf", "equal", "ends")

# Sizes at which code changes: one, primes, and around the lengths of vectors, tiles and blocks.
_EDGE_SIZES = (1, 2, 3, 4, 5) + tuple(n + i for n in (8, 16, 32, 64, 128, 256, 1024) for i in (-1, 0, 1))


class _Patterns:
    """The bit patterns of a floating-point type, as unsigned numbers."""

    def __init__(self, dtype: str) -> None:
        floating = [name for name, format in FORMATS.items() if format.number == "floating"]
        if dtype not in floating:
            raise BadArgument(f"'{dtype}' is not a floating-point type; choose from {', '.join(floating)}")
        format = FORMATS[dtype]
        self.fraction = format.precision - 1
        self.sign, self.largest, self.nan = format.sign, format.largest, format.nan
        self.infinity = format.infinity or format.largest  # f8_e4m3 has none
        self.smallest_normal = 1 << self.fraction
        self.one = (1 - format.exponent_min) << self.fraction
        self.bits = f"uint{format.bits}"

    def signed(self, magnitudes: SearchStrategy[int]) -> SearchStrategy[int]:
        return st.tuples(magnitudes, st.sampled_from((0, self.sign))).map(lambda pair: pair[0] | pair[1])

    def elements(self, family: str) -> SearchStrategy[int]:
        """Elements that are drawn one by one; the other families arrange these."""
        if family == "subnormal":
            return self.signed(st.integers(0, self.smallest_normal))
        if family == "huge":
            return self.signed(st.integers(self.largest - (1 << self.fraction) + 1, self.largest))
        if family == "special":
            few = (0, self.one, self.infinity, self.nan, self.largest, 1, self.smallest_normal)
            return self.signed(st.sampled_from(few))
        if family == "zeros":
            return self.signed(st.just(0))
        if family == "ties":
            return self.signed(st.sampled_from(self.near_ties()))
        if family == "any":
            return st.integers(0, 2 * self.sign - 1)
        # Half of them between 2^-8 and 2^8, where most ops have their life, as far as the type has such numbers.
        reach = 8 << self.fraction
        near = st.integers(max(0, self.one - reach), min(self.one + reach, self.largest))
        return self.signed(st.one_of(near, st.integers(0, self.largest)))

    def near_ties(self) -> tuple[int, ...]:
        """1, its neighbour, and what puts their sums on or right beside the middle between two numbers."""
        half = self.one - ((self.fraction + 1) << self.fraction)  # 2^-(fraction + 1), half of 1's last place
        if half <= self.smallest_normal:
            raise AssertionError("the type has no such number")
        return (self.one, self.one + 1, half, half + 1, half - 1, half + (1 << self.fraction))


def sizes(most: int = 1025, *, zero: bool = False) -> SearchStrategy[int]:
    """A size of a tensor: those at which code changes more often than the others."""
    edges = [size for size in _EDGE_SIZES if size <= most]
    return st.one_of(st.sampled_from(([0] if zero else []) + edges), st.integers(0 if zero else 1, most))


def _accepted(view: Contract, free: dict[str, int], attributes: Mapping[str, object]) -> dict[str, int]:
    """All sizes, of free ones that the op takes. If it refuses them, as a filter that is larger than its image, a size of 1
    after the other makes them such."""
    for smaller in [None, *free]:
        if smaller is not None:
            free[smaller] = min(free[smaller], 1)
        case = make_case(view, view.types[0], free, attributes=attributes)
        if refusal(case, view) is None:
            break
    assume(refusal(case, view) is None)
    return {name: case.dims[i] for i, name in enumerate(view.dims)}


@st.composite
def shapes(
    draw: Any,
    op: str | Contract,
    *,
    max_elements: int = 4096,
    zero: bool = False,
    attributes: Mapping[str, object] | None = None,
) -> dict[str, int]:
    """The sizes of an op, by name, with no tensor larger than `max_elements`; those that follow from others, and from the
    attributes, may be larger."""
    view = contract(op)
    free = [name for name in view.dims if name not in view.derived]
    most = {name: max_elements for name in view.dims}
    dims: dict[str, int] = {}
    for name in draw(st.permutations(free)):
        dims[name] = draw(sizes(most[name], zero=zero))
        for param in view.params:
            # What the sizes drawn so far leave to each of the others.
            taken = 1
            for known in param.dims:
                taken *= max(1, dims.get(known, 1))
            for other in param.dims:
                if other not in dims:
                    most[other] = max(1, min(most[other], max_elements // taken))
    return _accepted(view, {name: dims[name] for name in free}, attributes or {})


_POOL = 16  # numbers that are drawn; a tensor is made of picks of them, since drawing every element takes long


@st.composite
def _numbers(draw: Any, dtype: str, shape: Sequence[int], elements: SearchStrategy[Any]) -> Any:
    """An array of a NumPy type. What is drawn does not depend on the shape, so that sizes shrink freely."""
    numpy: Any = import_module("numpy")
    pool = numpy.array(draw(st.lists(elements, min_size=1, max_size=_POOL)), dtype=dtype)
    picks = numpy.random.default_rng(draw(st.integers(0, (1 << 32) - 1)))
    return pool[picks.integers(0, len(pool), size=tuple(shape))]


@st.composite
def _ranged(draw: Any, param: Param, dtype: str, shape: tuple[int, ...]) -> Any:
    """Patterns of an input that has a range."""
    values = param.within(draw(_numbers("float32", shape, st.floats(0, 1, width=32)))).astype("float32")
    if dtype == "f32":
        return values
    return values.astype("float16") if dtype == "f16" else (values.view("uint32") >> 16).astype("uint16")


@st.composite
def _pattern_arrays(draw: Any, dtype: str, shape: tuple[int, ...], family: str, background: int) -> Any:
    """An array of bit patterns. A row is along the last axis."""
    numpy: Any = import_module("numpy")
    patterns = _Patterns(dtype)
    if family not in FAMILIES:
        raise BadArgument(f"unknown family '{family}'; choose from {', '.join(FAMILIES)}")
    size = 1
    for length in shape:
        size *= length
    if size == 0:
        return numpy.zeros(shape, dtype=patterns.bits)
    rows = size // shape[-1]
    one_each = (rows, 1)
    if family == "constant_rows":
        values = draw(_numbers(patterns.bits, one_each, patterns.elements("finite")))
        return numpy.broadcast_to(values, (rows, shape[-1])).reshape(shape).copy()
    if family == "one_hot":
        array = numpy.full((rows, shape[-1]), background, dtype=patterns.bits)
        places = draw(_numbers("int64", (rows,), st.integers(0, shape[-1] - 1)))
        array[numpy.arange(rows), places] = draw(_numbers(patterns.bits, (rows,), patterns.elements("finite")))
        return array.reshape(shape)
    if family == "cancel":
        array = draw(_numbers(patterns.bits, (rows, shape[-1]), patterns.elements("finite")))
        half = shape[-1] // 2
        array[:, half : 2 * half] = array[:, :half] ^ patterns.sign
        return array.reshape(shape)
    return draw(_numbers(patterns.bits, shape, patterns.elements(family)))


def tensors(
    dtype: str,
    shape: Sequence[int],
    *,
    family: str | None = None,
    background: float = 0.0,
    framework: str = "numpy",
) -> SearchStrategy[Any]:
    """Tensors of an edge family; None: of any of them. `background` is what one_hot has around the one: 0 or
    -inf, in f8_e4m3 the lowest number."""
    patterns = _Patterns(dtype)
    around = 0 if background == 0 else patterns.infinity | patterns.sign
    chosen = st.just(family) if family is not None else st.sampled_from(FAMILIES)
    return chosen.flatmap(lambda name: _pattern_arrays(dtype, tuple(shape), name, around)).map(
        lambda array: to_array(array.tobytes(), dtype, array.shape, framework)
    )


@st.composite
def indices(
    draw: Any,
    shape: Sequence[int],
    size: int,
    *,
    family: str | None = None,
    dtype: str = "i64",
    framework: str = "numpy",
) -> Any:
    """Indices into [0, size): any, mostly the first ones (Zipf), all equal, or the first and the last."""
    numpy: Any = import_module("numpy")
    chosen = family if family is not None else draw(st.sampled_from(INDEX_FAMILIES))
    count = int(numpy.prod(shape, dtype="int64"))
    if count and size < 1:
        raise BadArgument("an index needs a table with at least one row")
    if not count:
        values = numpy.zeros(0, dtype="int64")
    elif chosen == "equal":
        values = numpy.full(count, draw(st.integers(0, size - 1)), dtype="int64")
    elif chosen == "ends":
        values = draw(_numbers("int64", (count,), st.sampled_from((0, size - 1))))
    elif chosen == "zipf":
        # The rank's logarithm is uniform, so that rank r comes about 1 / r as often as the first.
        ranks = _numbers("int64", (count,), st.integers(0, 1 << 20))
        values = numpy.minimum(size ** (draw(ranks) / (1 << 20)), size).astype("int64") - 1
    elif chosen == "any":
        values = draw(_numbers("int64", (count,), st.integers(0, size - 1)))
    else:
        raise BadArgument(f"unknown family of indices '{chosen}'; choose from {', '.join(INDEX_FAMILIES)}")
    typed = values.astype({"i32": "int32", "i64": "int64"}[dtype])
    return to_array(typed.tobytes(), dtype, tuple(shape), framework)


@st.composite
def op_cases(
    draw: Any,
    op: str | Contract,
    *,
    dtype: str | Sequence[str] | None = None,
    dims: dict[str, int] | None = None,
    family: str | None = None,
    index_family: str | None = None,
    index_dtype: str = "i64",
    attributes: dict[str, object] | None = None,
    max_elements: int = 1024,
    zero: bool = False,
    framework: str = "numpy",
) -> DrawnCase:
    """A whole case of an op: sizes, attributes that kernels see, and every input. What is given is not drawn; of several
    types one is."""
    view = contract(op)
    numpy: Any = import_module("numpy")
    types = dtype if isinstance(dtype, str) else draw(st.sampled_from(view.types if dtype is None else tuple(dtype)))
    chosen = dict(attributes or {})
    for attribute in view.attributes:
        if attribute.seen_by_kernel and attribute.choices and attribute.name not in chosen:
            chosen[attribute.name] = draw(st.sampled_from(attribute.choices))
    if dims is None:
        sizes_drawn = draw(shapes(view, max_elements=max_elements, zero=zero, attributes=chosen))
    else:
        sizes_drawn = dims
    for param in view.inputs:
        # An index needs a row to point at.
        if param.kind == "index" and param.rule != "ends" and param.indexed_dim and sizes_drawn[param.indexed_dim] == 0:
            sizes_drawn = {**sizes_drawn, param.indexed_dim: 1}
    name = family if family is not None else draw(st.sampled_from(FAMILIES))
    case = make_case(view, types, sizes_drawn, index_dtype=index_dtype, attributes=chosen)
    sizes_drawn = {name: int(case.dims[i]) for i, name in enumerate(view.dims)}
    drawn = DrawnCase(drawn_op(view), types, sizes_drawn, f"hypothesis:{name}", None, index_dtype, chosen)
    for param in view.inputs:
        if not is_there(case, param):
            continue
        shape, element = param_shape(case, view, param), param_dtype(case, param)
        if param.rule == "ends" and param.indexed_dim:
            ends = draw(_numbers("int64", shape, st.integers(0, sizes_drawn[param.indexed_dim])))
            typed = numpy.sort(ends).astype({"i32": "int32", "i64": "int64"}[element])
            drawn.inputs[param.name] = to_array(typed.tobytes(), element, shape, framework)
        elif param.kind == "index" and param.indexed_dim:
            size = sizes_drawn[param.indexed_dim]
            drawn.inputs[param.name] = draw(
                indices(shape, size, family=index_family, dtype=element, framework=framework)
            )
        elif FORMATS[element].number != "floating":
            bits = FORMATS[element].bits
            values = draw(_numbers(f"uint{bits}", shape, st.integers(0, 1 if element == "bool" else (1 << bits) - 1)))
            drawn.inputs[param.name] = to_array(values.tobytes(), element, shape, framework)
        else:
            background = float("-inf") if param.neutral == "low" else 0.0
            if param.least or param.most:
                ranged = draw(_ranged(param, element, shape))
                drawn.inputs[param.name] = to_array(ranged.tobytes(), element, shape, framework)
                continue
            drawn.inputs[param.name] = draw(
                tensors(element, shape, family=name, background=background, framework=framework)
            )
    return drawn


def given_case(
    op: str | Contract, *, hypothesis_seed: int = TK_SEED_DEFAULT, max_examples: int = 100, **options: Any
) -> Callable[[_Test], Callable[..., None]]:
    """@given(case=op_cases(op, ...)) from a fixed seed, which a failure prints. The test takes `case`."""

    def decorate(test: _Test) -> Callable[..., None]:
        def run(*arguments: Any, case: DrawnCase, **named: Any) -> None:
            note(f"tokitai: Hypothesis seed {hypothesis_seed}")
            note("inputs: " + ", ".join(f"{name} = {value}" for name, value in case.inputs.items()))
            test(*arguments, case=case, **named)

        run.__name__, run.__doc__, run.__module__ = test.__name__, test.__doc__, test.__module__
        drawn = given(case=op_cases(op, **options))(run)
        return seed(hypothesis_seed)(settings(deadline=None, database=None, max_examples=max_examples)(drawn))

    return decorate

"""Adapters: the checks of kernel benchmarks, with a contract in the place of a tolerance.

A harness compares a kernel's output with that of a reference, within a tolerance. These adapters take the same inputs
and the kernel's output, find out which op the reference is, and judge every element by the op's contract. Where they
cannot, the verdict is UNKNOWN with the reason, and the harness' own check decides, if there is one; that is recorded.
"""

from __future__ import annotations

from ._judgement import Judgement

__all__ = ["Judgement"]

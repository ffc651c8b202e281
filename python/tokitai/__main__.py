"""The program `tokitai`, which lies beside the libraries."""

from __future__ import annotations

import os
import sys
from typing import NoReturn

from ._library import library_folder


def main() -> NoReturn:
    folder = library_folder()
    program = os.path.join(folder, "tokitai") if folder else "tokitai"
    try:
        os.execvp(program, ["tokitai", *sys.argv[1:]])
    except OSError as error:
        sys.exit(f"tokitai: {program} cannot be started: {error.strerror}")


if __name__ == "__main__":
    main()

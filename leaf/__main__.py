"""`python -m leaf`: the command line."""

import gc
import sys

from leaf.cli.main import main

if __name__ == "__main__":
    gc.set_threshold(50_000)  # a command makes many objects, keeps most, and ends soon
    sys.exit(main())

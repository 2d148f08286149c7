"""`python -m leaf`: the command line."""

import sys

from leaf.cli.main import main

if __name__ == "__main__":
    sys.exit(main())

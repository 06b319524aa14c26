"""`python -m torchkeras`: the command `torchkeras`."""

import sys

from torchkeras.commands import main

if __name__ == "__main__":
    sys.exit(main())

"""Tests with other packages: `scripts/ecosystem` installs these and runs all of them.

In an environment without a package its file is not collected, and `tests/conftest.py` says so.
"""

import missing_operators  # noqa: F401

"""Damage functions that Keras stored, by the thousand: each is a formula or refused, and nothing else happens.

python scripts/mutate_lambdas.py [count] [seed]
"""

import runpy
import sys
from pathlib import Path

if __name__ == "__main__":
    count, seed = (int(text) for text in (*sys.argv[1:], "100000", "1")[:2])
    tests = runpy.run_path(str(Path(__file__).parent.parent / "tests" / "keras2" / "lambdas" / "test_hostile.py"))
    print(f"{count} damaged functions; {tests['run_mutated'](count, seed)} are still formulas")

"""`keras.ops.linalg`: the functions of `keras.ops` on matrices."""

from typing import TYPE_CHECKING, Any

from torchkeras.keras3.operations import FUNCTIONS as _FUNCTIONS

_NAMES = """
cholesky cholesky_inverse det eig eigh inv jvp lstsq lu_factor matrix_rank norm pinv qr solve solve_triangular svd
"""
__all__ = list(_NAMES.split())  # pyright: ignore[reportUnsupportedDunderAll]
globals().update({name: _FUNCTIONS[name] for name in __all__})

if TYPE_CHECKING:

    def __getattr__(name: str) -> Any: ...

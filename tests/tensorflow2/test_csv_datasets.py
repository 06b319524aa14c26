"""`tf.data.experimental.make_csv_dataset`: the values and types that TensorFlow 2.21 reads from the same file."""

from pathlib import Path
from typing import Any

import pytest
import torch

from torchkeras.tensorflow2 import data

TEXT = "a,b,c,y\n1,2.5,x,0\n3,?,z,1\n5,1.5,,1\n"


def read(folder: Path, **options: Any) -> list[Any]:
    path = folder / "rows.csv"
    path.write_text(TEXT)
    options = {"label_name": "y", "num_epochs": 1, "shuffle": False, "na_value": "?", **options}
    return list(data.experimental.make_csv_dataset(str(path), 2, **options))


def test_types_are_found_in_the_rows(tmp_path):
    (features, labels), (rest, _) = read(tmp_path)
    assert (features["a"].dtype, features["b"].dtype, labels.dtype) == (torch.int32, torch.float32, torch.int32)
    assert features["b"].tolist() == [2.5, 0.0]
    assert features["c"].numpy().tolist() == [b"x", b"z"]
    assert rest["c"].numpy().tolist() == [b""]
    assert labels.tolist() == [0, 1]


def test_defaults_give_types_and_missing_values(tmp_path):
    (features, labels), (rest, _) = read(tmp_path, column_defaults=[[0], [9.0], ["NA"], [0.0]])
    assert features["b"].tolist() == [2.5, 9.0]
    assert rest["c"].numpy().tolist() == [b"NA"]
    assert labels.dtype == torch.float32


def test_columns_are_chosen_and_rows_repeated(tmp_path):
    batches = read(tmp_path, select_columns=["a"], label_name=None, num_epochs=2)
    assert [batch["a"].tolist() for batch in batches] == [[1, 3], [5, 1], [3, 5]]


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"label_name": "w"}, r"^make_csv_dataset: there is no column 'w'; the columns are \['a', 'b', 'c', 'y'\]\.$"),
        ({"column_defaults": [[0]]}, r"^make_csv_dataset: column_defaults must have 4 items; found 1\.$"),
    ],
)
def test_what_does_not_fit_is_refused(tmp_path, options, text):
    with pytest.raises(ValueError, match=text):
        read(tmp_path, **options)

"""Images of Pillow to arrays, files, and back. `tests/keras3/same/utils.py` compares with genuine Keras."""

import io
from pathlib import Path

import numpy as np
import pytest
from PIL import Image, UnidentifiedImageError

from torchkeras.utils import array_to_img, img_to_array, load_img, save_img

INTERPOLATIONS = ("nearest", "bilinear", "bicubic", "hamming", "box", "lanczos")
SIZES = "must be two integers of at least 1, the height and the width"
PIXELS = np.random.default_rng(0).integers(0, 256, (20, 30, 3))


def test_transparency_is_lost_in_jpeg():
    with pytest.warns(UserWarning, match="JPEG has no transparency; the image is written as RGB"):
        save_img(file := io.BytesIO(), np.ones((2, 2, 4)), file_format="jpg")
    assert load_img(file).mode == "RGB"


@pytest.mark.parametrize("suffix", ["jpg", "JPEG", "tif", "tiff", "png", "BMP"])
def test_the_format_is_that_of_the_suffix(tmp_path: Path, suffix: str):
    kind = {"jpg": "JPEG", "tif": "TIFF"}.get(suffix, suffix.upper())
    for path in (tmp_path / f"1.{suffix}", f"{tmp_path}/2.{suffix}", f"{tmp_path}/3.{suffix}".encode()):
        save_img(path, PIXELS)
        assert load_img(path).format == kind
    with open(tmp_path / f"4.{suffix}", "wb") as file:
        save_img(file, PIXELS)
    assert load_img(tmp_path / f"4.{suffix}").format == kind
    save_img(tmp_path / "5", PIXELS, file_format=suffix)
    assert load_img(tmp_path / "5").format == kind


def test_the_channels_of_a_target_size_do_not_count(tmp_path: Path):
    save_img(tmp_path / "a.png", PIXELS)
    assert load_img(tmp_path / "a.png", target_size=(4, 6, 3)).size == (6, 4)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (
            lambda: array_to_img(np.ones((2, 2))),
            ValueError,
            "array_to_img: x must have three axes, none of them empty; found shape (2, 2).",
        ),
        (
            lambda: array_to_img(np.ones((0, 2, 3))),
            ValueError,
            "array_to_img: x must have three axes, none of them empty; found shape (0, 2, 3).",
        ),
        (
            lambda: array_to_img(np.ones((2, 2, 2))),
            ValueError,
            "array_to_img: x must have 1, 3 or 4 channels; found 2.",
        ),
        (
            lambda: array_to_img(PIXELS, scale="no"),
            ValueError,
            "array_to_img: scale must be True, False, 1 or 0; found 'no'.",
        ),
        (
            lambda: array_to_img(PIXELS, dtype="no"),
            ValueError,
            "array_to_img: dtype: data type 'no' not understood",
        ),
        (
            lambda: img_to_array(np.ones(2)),
            ValueError,
            "img_to_array: an image has two axes, or three with channels; found shape (2,).",
        ),
        (
            lambda: img_to_array(PIXELS, "no"),
            ValueError,
            "img_to_array: data_format must be one of 'channels_last', 'channels_first', or None; found 'no'.",
        ),
        (
            lambda: save_img("a.no", PIXELS),
            ValueError,
            "save_img: file_format must be one that Pillow writes, such as 'png'; found 'no'.",
        ),
        (
            lambda: save_img(io.BytesIO(), PIXELS),
            ValueError,
            "save_img: file_format must be one that Pillow writes, such as 'png'; found ''.",
        ),
        (
            lambda: save_img(3, PIXELS, file_format="png"),
            TypeError,
            "save_img: path must be a path or a file; found int.",
        ),
        (lambda: load_img(3), TypeError, "load_img: path must be a path or an io.BytesIO; found int."),
        (
            lambda: load_img("a.png", interpolation="no"),
            ValueError,
            f"load_img: interpolation must be one of {', '.join(map(repr, INTERPOLATIONS))}; found 'no'.",
        ),
        (
            lambda: load_img("a.png", color_mode="no"),
            ValueError,
            "load_img: color_mode must be one of 'grayscale', 'rgb', 'rgba'; found 'no'.",
        ),
        *(
            (
                lambda size=size: load_img("a.png", target_size=size),
                ValueError,
                f"load_img: target_size {SIZES}, or None; found {size}.",
            )
            for size in (4, (0, 3), (4.5, 3), (4,))
        ),
        (
            lambda: load_img("a.png", keep_aspect_ratio="no"),
            ValueError,
            "load_img: keep_aspect_ratio must be True, False, 1 or 0; found 'no'.",
        ),
        (lambda: load_img("no.png"), FileNotFoundError, "[Errno 2] No such file or directory: 'no.png'"),
    ],
)
def test_errors(call, error, message: str, tmp_path: Path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(error) as found:
        call()
    assert str(found.value) == message
    assert list(tmp_path.iterdir()) == []


def test_a_damaged_file_is_named(tmp_path: Path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("no.png").write_bytes(b"no image")
    for path in ("no.png", Path("no.png"), b"no.png"):
        with pytest.raises(UnidentifiedImageError) as error:
            load_img(path)
        assert str(error.value) == "load_img: 'no.png' holds no image that Pillow can read."
    with pytest.raises(UnidentifiedImageError) as error:
        load_img(io.BytesIO(b"no image"))
    assert str(error.value) == "load_img: the BytesIO holds no image that Pillow can read."
    save_img("half.bmp", PIXELS)
    Path("half.bmp").write_bytes(Path("half.bmp").read_bytes()[:500])
    with pytest.raises(UnidentifiedImageError) as error:
        load_img("half.bmp")
    assert str(error.value).startswith(
        "load_img: 'half.bmp' holds an image that Pillow cannot read: image file is trunc"
    )


def test_an_image_of_too_many_pixels_is_named(tmp_path: Path, monkeypatch):
    save_img(tmp_path / "a.png", PIXELS)
    monkeypatch.setattr(Image, "MAX_IMAGE_PIXELS", 10)
    with pytest.raises(
        UnidentifiedImageError, match=r"a\.png' holds an image that Pillow cannot read: Image size .* exceeds"
    ):
        load_img(tmp_path / "a.png")

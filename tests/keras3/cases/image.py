import numpy as np

from tests.keras3.cases.inputs import F, case

_draw = np.random.default_rng(13)
IMAGES = _draw.uniform(0.0, 1.0, (2, 7, 6, 3)).astype("float32")
IMAGE = IMAGES[0]
FIRST = IMAGES.transpose(0, 3, 1, 2).copy()
HALVES = IMAGES.astype("float16")
DOUBLES = IMAGES.astype("float64")
BYTES = _draw.integers(0, 256, (2, 7, 6, 3)).astype("uint8")
LONGS = _draw.integers(-9, 9, (2, 7, 6, 3)).astype("int64")
GREYS = IMAGES[..., :1]
ALL = (IMAGES, IMAGE, HALVES, DOUBLES)
VOLUMES = _draw.uniform(0.0, 1.0, (2, 6, 5, 4, 2)).astype("float32")
TRANSFORMS = np.array([[1.2, 0.1, -0.6, -0.2, 0.9, 0.7, 0.0, 0.0], [1, 0, 3.5, 0, 1, -4.25, 0, 0]], "float32")
START = np.array([[[0, 0], [0, 6], [5, 0], [5, 6]], [[1, 0], [0, 6], [5, 0], [5, 6]]], "float32")
END = np.array([[[0, 1], [1, 6], [5, 0], [4, 6]], [[-1, 0], [1, 5], [4, 1], [6, 6]]], "float32")
PLACES = _draw.uniform(-9.0, 15.0, (2, 3, 5)).astype("float32")
INDICES = _draw.integers(-9, 15, (2, 4)).astype("int32")
MODES = ("constant", "nearest", "wrap", "mirror", "reflect")
PLANE = IMAGE[..., 0].copy()
LARGE = _draw.uniform(0.0, 1.0, (2, 13, 12, 3)).astype("float32")
TWO = np.array([1.3, 0.6], "float32")
MOVED = np.array([-0.75, 0.4], "float32")


def transforms(rows: slice = slice(None), dtype: str = "float32") -> np.ndarray:
    """A new array: genuine Keras on torch changes the one it is given."""
    return TRANSFORMS[rows].astype(dtype)


CASES = [
    *(case("image.rgb_to_grayscale", x) for x in (*ALL, BYTES, LONGS, GREYS, IMAGES[..., :2], F)),
    *(case("image.rgb_to_hsv", x) for x in (*ALL, IMAGES.round(), np.zeros_like(IMAGE), -IMAGE, BYTES, F)),
    *(case("image.hsv_to_rgb", x) for x in (*ALL, IMAGES * 3 - 1, BYTES, F)),
    *(
        case(f"image.{name}", x, data_format="channels_first")
        for name in ("rgb_to_grayscale", "rgb_to_hsv", "hsv_to_rgb")
        for x in (FIRST, FIRST[0])
    ),
    case("image.rgb_to_hsv", IMAGES, data_format="channels"),
    *(
        case("image.resize", x, size, interpolation=by)
        for x in (IMAGES, HALVES, BYTES, LONGS)
        for size in ((3, 9), [14, 4])
        for by in ("bilinear", "nearest", "bicubic")
    ),
    *(case("image.resize", IMAGES, (4, 3), by, antialias=True) for by in ("bilinear", "nearest", "bicubic")),
    *(case("image.resize", x, (5, 5)) for x in (IMAGE, DOUBLES, IMAGES > 0.5)),
    *(case("image.resize", x, (5, 4), data_format="channels_first") for x in (FIRST, FIRST[0])),
    *(
        case("image.resize", x, size, crop_to_aspect_ratio=True)
        for x in (IMAGES, IMAGE)
        for size in ((3, 9), (9, 3), (2, 50), (4, 4))
    ),
    *(
        case("image.resize", x, size, pad_to_aspect_ratio=True, fill_value=value)
        for x, value in ((IMAGES, 0.0), (BYTES, 7), (IMAGE, -1.5))
        for size in ((3, 9), (9, 3), (4, 4), (7, 6))
    ),
    case("image.resize", FIRST, (9, 3), pad_to_aspect_ratio=True, data_format="channels_first"),
    case("image.resize", FIRST, (9, 3), crop_to_aspect_ratio=True, data_format="channels_first"),
    case("image.resize", IMAGES, (3, 3), crop_to_aspect_ratio=True, pad_to_aspect_ratio=True),
    case("image.resize", IMAGES, (3, 3), "lanczos3"),
    case("image.resize", IMAGES, (3, 3), fill_mode="reflect"),
    case("image.resize", IMAGES, (3, 3, 3)),
    case("image.resize", IMAGES, (0, 3)),
    case("image.resize", F, (3, 3)),
    case("image.pad_images", IMAGES, 1, 2, 3, 0),
    case("image.pad_images", IMAGE, 1, 2, target_height=10, target_width=9),
    case("image.pad_images", BYTES, bottom_padding=1, right_padding=2, target_height=10, target_width=8),
    case("image.pad_images", FIRST, 1, 2, 3, 0, data_format="channels_first"),
    case("image.pad_images", FIRST[0], 1, 2, target_height=8, target_width=8, data_format="channels_first"),
    case("image.pad_images", IMAGES, 1, 2, 3),
    case("image.pad_images", IMAGES, 1, 2, 3, 0, target_height=9),
    case("image.pad_images", IMAGES, 1, 2, target_height=7, target_width=9),
    case("image.pad_images", IMAGES, -1, 2, 3, 0),
    case("image.crop_images", IMAGES, 1, 2, 3, 0),
    case("image.crop_images", IMAGE, 1, 2, target_height=4, target_width=3),
    case("image.crop_images", BYTES, bottom_cropping=1, right_cropping=2, target_height=3, target_width=4),
    case("image.crop_images", FIRST, 1, 2, 3, 0, data_format="channels_first"),
    case("image.crop_images", FIRST[0], 1, 2, target_height=6, target_width=4, data_format="channels_first"),
    case("image.crop_images", IMAGES, 1, 2, 3),
    case("image.crop_images", IMAGES, 1, 2, 3, 0, target_width=4),
    case("image.crop_images", IMAGES, bottom_cropping=1, right_cropping=2, target_height=7, target_width=4),
    case("image.crop_images", IMAGES, -1, 2, 3, 0),
    case("image.crop_images", IMAGES, 4, 2, 4, 0),
    *(case("image.extract_patches", x, 2) for x in ALL),
    *(
        case("image.extract_patches", IMAGES, (3, 2), strides, padding=to)
        for strides in (1, 2)
        for to in ("valid", "same")
    ),
    case("image.extract_patches", IMAGES, (2, 3), strides=(3, 1)),
    case("image.extract_patches", IMAGES, (2, 3), strides=1, dilation_rate=2),
    case("image.extract_patches", IMAGE, 3, strides=1, dilation_rate=2, padding="same"),
    case("image.extract_patches", FIRST, 3, padding="same", data_format="channels_first"),
    case("image.extract_patches", FIRST[0], (2, 3), 2, data_format="channels_first"),
    *(
        case(f"image.{name}", x, (2, 3, 2))
        for name in ("extract_patches", "extract_patches_3d")
        for x in (VOLUMES, VOLUMES[0])
    ),
    case("image.extract_patches", VOLUMES, (2, 2, 2), (1, 2, 1), padding="same"),
    case("image.extract_patches_3d", VOLUMES, 2),
    case("image.extract_patches_3d", VOLUMES, 3, strides=2, padding="same"),
    case("image.extract_patches_3d", VOLUMES, 2, strides=1, dilation_rate=2),
    case("image.extract_patches_3d", VOLUMES[0], 2, strides=(1, 2, 3), data_format="channels_first"),
    case("image.extract_patches_3d", VOLUMES, 2, data_format="channels_first"),
    case("image.extract_patches_3d", VOLUMES, (2, 2)),
    case("image.extract_patches", IMAGES, (2, 2, 2, 2)),
    *(
        case("image.map_coordinates", x, PLACES, order, mode)
        for x in (PLANE, BYTES[0, ..., 0])
        for order in (0, 1)
        for mode in MODES
    ),
    *(case("image.map_coordinates", PLANE, INDICES, order, mode) for order in (0, 1) for mode in MODES),
    *(
        case("image.map_coordinates", x, PLACES / 4, 1)
        for x in (PLANE.astype("float16"), PLANE.astype("float64"), PLANE > 0.5)
    ),
    *(
        case("image.map_coordinates", x, PLACES, order, fill_value=2.75)
        for x in (PLANE, LONGS[0, ..., 0])
        for order in (0, 1)
    ),
    case("image.map_coordinates", PLANE, PLACES.astype("float64"), 1),
    case("image.map_coordinates", PLANE, [PLACES[0], PLACES[1]], order=1),
    case("image.map_coordinates", IMAGE, PLACES[[0, 1, 0]] / 5, 1, "reflect"),
    case("image.map_coordinates", PLANE[0], PLACES[:1, 0], 1, "mirror"),
    case("image.map_coordinates", PLANE, PLACES[:1], 1),
    case("image.map_coordinates", PLANE, PLACES[:, 0, 0], 1),
    case("image.map_coordinates", PLANE, PLACES, 2),
    case("image.map_coordinates", PLANE, PLACES, 1, "edge"),
    *(
        case("image.affine_transform", x, transforms(), by, mode)
        for x in (IMAGES, BYTES)
        for by in ("bilinear", "nearest")
        for mode in MODES
    ),
    *(case("image.affine_transform", x, transforms(), fill_value=3) for x in (IMAGES, HALVES, DOUBLES, LONGS)),
    *(case("image.affine_transform", IMAGE, transforms(rows)[0]) for rows in (slice(0, 1), slice(1, 2))),
    case("image.affine_transform", IMAGE, transforms(slice(0, 1))),
    case("image.affine_transform", IMAGES, transforms(dtype="float64")),
    case("image.affine_transform", IMAGES, transforms(dtype="int32")),
    case("image.affine_transform", FIRST, transforms(), data_format="channels_first"),
    case("image.affine_transform", FIRST[0], transforms()[1], data_format="channels_first"),
    case("image.affine_transform", IMAGES, transforms(), "bicubic"),
    case("image.affine_transform", IMAGES, transforms(), fill_mode="edge"),
    case("image.affine_transform", IMAGES, transforms()[None]),
    case("image.affine_transform", F, transforms()),
    *(
        case("image.perspective_transform", x, START, end, by)
        for x, end in ((IMAGES, END), (BYTES, np.abs(END)))
        for by in ("bilinear", "nearest")
    ),
    *(case("image.perspective_transform", x, START[0], END[0], fill_value=2) for x in (IMAGES, IMAGE, LONGS)),
    case("image.perspective_transform", IMAGE, START[:1], END[:1]),
    case("image.perspective_transform", FIRST, START, END, data_format="channels_first"),
    case("image.perspective_transform", FIRST[0], START[1], END[1], data_format="channels_first"),
    case("image.perspective_transform", IMAGES, START.astype("int32"), END.astype("int64")),
    case("image.perspective_transform", IMAGES, START, END[0]),
    case("image.perspective_transform", IMAGES, START[:, :3], END[:, :3]),
    case("image.perspective_transform", IMAGES, START, END, "bicubic"),
    case("image.perspective_transform", F, START, END),
    *(case("image.gaussian_blur", x, data_format="channels_last") for x in ALL),
    *(case("image.gaussian_blur", x, (5, 5), (0.7, 1.5), "channels_last") for x in ALL),
    *(case("image.gaussian_blur", x, (3, 3), (2.0, 0.5), data_format="channels_first") for x in (FIRST, FIRST[0])),
    case("image.gaussian_blur", F, data_format="channels_last"),
    *(case("image.elastic_transform", x) for x in (F, F[0])),
    case("image.elastic_transform", IMAGES, alpha=0.0, fill_mode="nearest"),
    case("image.elastic_transform", IMAGE, alpha=0.0, sigma=1.0, interpolation="nearest", seed=3),
    case("image.elastic_transform", FIRST, alpha=0.0, data_format="channels_first"),
    case("image.elastic_transform", IMAGES, interpolation="bicubic"),
    case("image.elastic_transform", IMAGES, fill_mode="edge"),
    *(
        case("image.scale_and_translate", IMAGES, (2, 9, 4, 3), TWO, MOVED, (1, 2), method, antialias)
        for method in ("linear", "bilinear", "trilinear", "cubic", "bicubic", "tricubic", "lanczos3", "lanczos5")
        for antialias in (True, False)
    ),
    *(
        case("image.scale_and_translate", x, (2, 5, 8, 3), TWO, MOVED, (-3, -2), method="cubic")
        for x in (HALVES, DOUBLES, BYTES, LONGS)
    ),
    case("image.scale_and_translate", PLANE, (12, 6), TWO[:1], MOVED[:1], [0], "linear"),
    case("image.scale_and_translate", PLANE, (12, 6), [2, 1], [0, 1], (0, 1), "linear"),
    case("image.scale_and_translate", PLANE, (7, 6), TWO, MOVED, (), "linear"),
    case("image.scale_and_translate", PLANE, (7, 6), TWO.astype("float64"), MOVED, (0, 1), "lanczos3"),
    case("image.scale_and_translate", PLANE, (7, 6), TWO, MOVED, (0, 1), "nearest"),
    *(case("image.sobel_edges", x) for x in (IMAGES, HALVES, DOUBLES, GREYS, LONGS, F)),
    case("image.sobel_edges", FIRST, data_format="channels_first"),
    *(case("image.ssim", x, y) for x, y in ((LARGE, LARGE), (LARGE, LARGE[::-1].copy()), (LARGE[0], LARGE[1]))),
    *(case("image.ssim", x, 1 - x, filter_size=5) for x in (IMAGES, IMAGE, HALVES)),
    case("image.ssim", IMAGES, IMAGES[::-1].copy(), 2.0, 3, 0.8, 0.02, 0.05),
    case("image.ssim", FIRST, FIRST[::-1].copy(), filter_size=5, data_format="channels_first"),
    case("image.ssim", FIRST[0], FIRST[1], filter_size=3, data_format="channels_first"),
    case("image.ssim", IMAGES, F),
    case("image.ssim", F, F),
    case("image.ssim", IMAGES, IMAGES),
]

"""Cases of `keras.utils`: images, arrays, settings, data in two parts. Pillow is needed."""

import io
import os
import pathlib
import tempfile

import numpy as np
import torch

PIXELS = np.random.default_rng(0).integers(0, 256, (6, 9, 4)).astype("float32")


def refused(function, *args, **kwargs):
    """The kind of error, or None."""
    try:
        function(*args, **kwargs)
    except (TypeError, ValueError, AttributeError, KeyError) as error:
        return type(error).__name__
    return None


def image(found):
    return [found.mode, list(found.size), np.asarray(found)]


def case_array_to_img(keras):
    make, found = keras.utils.array_to_img, []
    for channels in (1, 3, 4):
        x = PIXELS[:, :, :channels]
        found += [image(make(x)), image(make(x, scale=False)), image(make(x.transpose(2, 0, 1), "channels_first"))]
        found += [image(make(x / 300 - 0.2)), image(make(np.ones((2, 3, channels)))), image(make(x, dtype="float64"))]
    found.append(image(make(PIXELS[:, :, :1] * 300, scale=False)))
    return [*found, refused(make, PIXELS[:, :, 0]), refused(make, PIXELS[:, :, :2]), refused(make, PIXELS, "no")]


def case_img_to_array(keras):
    make, read = keras.utils.array_to_img, keras.utils.img_to_array
    found = []
    for channels in (1, 3, 4):
        picture = make(PIXELS[:, :, :channels], scale=False)
        found += [read(picture), read(picture, "channels_first"), read(picture, dtype="uint8")]
    return [*found, refused(read, np.ones(3)), refused(read, np.ones((2, 3, 1)), "no")]


def case_files(keras):
    utils, found = keras.utils, []
    with tempfile.TemporaryDirectory() as folder:
        for name, channels in (("a.png", 1), ("a.bmp", 3), ("b.png", 4), ("c.gif", 1)):
            path = os.path.join(folder, name)
            utils.save_img(path, PIXELS[:, :, :channels], scale=False)
            found.append(image(utils.load_img(path)))
            found += [image(utils.load_img(pathlib.Path(path), color_mode=mode)) for mode in ("grayscale", "rgba")]
        utils.save_img(pathlib.Path(folder) / "x", PIXELS[:, :, :3], file_format="PNG", data_format="channels_last")
        found.append(image(utils.load_img(os.path.join(folder, "x"))))
        utils.save_img(os.path.join(folder, "y.jpg"), PIXELS[:, :, :1])
        found.append(list(utils.load_img(os.path.join(folder, "y.jpg")).size))
    return found


def case_sizes(keras):
    file, found = io.BytesIO(), []
    keras.utils.save_img(file, PIXELS[:, :, :3], file_format="png", scale=False)
    for way in ("nearest", "bilinear", "bicubic", "hamming", "box", "lanczos"):
        for size in ((3, 4), (12, 9), (6, 9), (10, 2)):
            for keep in (False, True):
                file.seek(0)
                load = keras.utils.load_img
                found.append(image(load(file, target_size=size, interpolation=way, keep_aspect_ratio=keep)))
    file.seek(0)
    found.append(refused(keras.utils.load_img, file, color_mode="no"))
    return [*found, refused(keras.utils.load_img, 3)]


def case_to_categorical(keras):
    call, plain = keras.utils.to_categorical, keras.ops.convert_to_numpy
    return [
        call([0, 2, 1]),
        call(np.array([[0], [2]])),
        call(np.array([[0, 1], [2, 0]], "uint8"), num_classes=4),
        call([1.0, 0.0]),
        plain(call(torch.tensor([0, 2, 1]), 3)),
        plain(call(torch.tensor([[0], [2]]), num_classes=4)),
    ]


def case_normalize(keras):
    call, plain = keras.utils.normalize, keras.ops.convert_to_numpy
    x = np.arange(6.0).reshape(2, 3)
    return [
        call(x),
        call(x, order=1),
        call(x.astype("float32"), axis=1, order=2),
        plain(call(torch.tensor(x, dtype=torch.float32), axis=0)),
        plain(call([[3.0, 4.0]])),
    ]


def case_pad_sequences(keras):
    return [
        keras.utils.pad_sequences([[1], [2, 3], [4, 5, 6]]),
        keras.utils.pad_sequences([[1], [2, 3, 4]], maxlen=2, padding="post", truncating="post", value=-1.0),
        keras.utils.pad_sequences([[[1, 2]], [[3, 4], [5, 6]]], dtype="float32"),
    ]


def case_batches(keras):
    pack, unpack = keras.utils.pack_x_y_sample_weight, keras.utils.unpack_x_y_sample_weight
    given = [("x",), ("x", "y"), ("x", "y", "w"), (["a"],)]  # with a weight but no y genuine Keras loses the weight
    return [
        [list(unpack(pack(*each))) for each in given],
        pack("x"),
        list(pack(["a"])),
        list(unpack("x")),
        list(unpack(["x", "y"])),
        refused(unpack, (1, 2, 3, 4)),
    ]


def case_config(keras):
    made = keras.utils.Config(rate=0.1, seed=1)
    made.name = "n"
    made["other"] = [1]
    found = [made.rate, made["seed"], made.as_dict(), made.to_json(), sorted(made.keys()), list(made), len(made)]
    found += ["rate" in made, "no" in made, made.get("no"), made.get("no", 3), made.pop("seed"), repr(made)]
    made.update({"a": 1}, b=2)
    del made["a"]
    made.freeze()
    found += [made.frozen, refused(made.update, c=1), refused(made.pop, "b"), refused(setattr, made, "c", 1)]
    found += [refused(made.__setitem__, "c", 1), refused(made.__delitem__, "b"), refused(getattr, made, "rat")]
    made.unfreeze()
    made.c = 3
    return [*found, made.frozen, dict(made.items()), list(made.values())[-1], refused(made.__getitem__, "no")]


def case_split_dataset(keras):
    split, x = keras.utils.split_dataset, np.arange(20).reshape(10, 2)

    def sizes(*args, **kwargs):
        return list(map(len, split(*args, **kwargs)))

    def values(part):
        return [[np.asarray(each) for each in item] for item in part]

    left, right = split([x, x[:, 0]], left_size=0.7, shuffle=True, seed=3)
    return [
        sizes(x, left_size=0.8),
        sizes(x, left_size=3),
        sizes(x, right_size=0.25),
        sizes(x, right_size=4, shuffle=True),
        sizes((x, x), 4, 6),
        sizes(torch.utils.data.TensorDataset(torch.from_numpy(x)), left_size=2),
        values(left),
        values(right),
        refused(split, x),
        refused(split, x, left_size=0),
        refused(split, x, left_size=10),
        refused(split, x, left_size=1.5),
        refused(split, x, left_size=0.6, right_size=0.6),
        refused(split, x, left_size="a"),
        refused(split, 3, left_size=0.5),
    ]


class Squares:
    """Made a PyDataset by the case."""

    def __len__(self):
        return 3

    def __getitem__(self, index):
        return np.arange(2) + index


def case_py_dataset(keras):
    class Mine(Squares, keras.utils.PyDataset):
        pass

    class Counted(keras.utils.PyDataset):
        num_batches = 2

        def __getitem__(self, index):
            return index

    made = Mine(workers=2, use_multiprocessing=False, max_queue_size=5)
    return [
        [made.workers, made.use_multiprocessing, made.max_queue_size, made.num_batches],
        [each.tolist() for each in made],
        list(Counted()),
        keras.utils.Sequence is keras.utils.PyDataset,
    ]

"""`get_file`: a file from the network, kept in a folder."""

from __future__ import annotations

import os
import warnings
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from torchkeras.base.annexes import annex


def get_file(
    fname: str | os.PathLike[str] | None = None,
    origin: str | None = None,
    untar: bool = False,
    md5_hash: str | None = None,
    file_hash: str | None = None,
    cache_subdir: str = "datasets",
    hash_algorithm: str = "auto",
    extract: bool = False,
    archive_format: Any = "auto",
    cache_dir: str | os.PathLike[str] | None = None,
    force_download: bool = False,
) -> str:
    """The path of a file that is downloaded unless it is there; of an archive that is unpacked, that of its folder.

    Arguments:
        fname (text or None, default None): the name of the file, without folders; None is that in `origin`.
        origin (text): the address that it comes from.
        untar (bool, default False): `extract` for a tar archive, under its old name.
        md5_hash (text or None, default None): the file's MD5 hash; the old name of `file_hash`.
        file_hash (text or None, default None): the file's hash. A file that is there with another one is downloaded.
        cache_subdir (text, default "datasets"): the folder inside `cache_dir`.
        hash_algorithm (text, default "auto"): "sha256", "md5", or "auto" by the length of the hash.
        extract (bool, default False): whether an archive is unpacked: `a.zip` into the folder `a_extracted`, a name
            without a suffix into the folder of that name.
        archive_format (text, list or None, default "auto"): "tar", "zip", a list of these, "auto" for both, None for
            none.
        cache_dir (path or None, default None): None is `$KERAS_HOME`, else `~/.keras`.
        force_download (bool, default False): whether it is downloaded even if it is there.

    Errors:
        OSError: the file cannot be downloaded or written.
        ValueError: there is no `origin`, a name has folders, the hash of what was downloaded is another, or an archive
            has a member outside of its folder.

    Example:
        >>> _ = Path("numbers.txt").write_text("1 2 3")
        >>> path = get_file(origin=Path("numbers.txt").absolute().as_uri(), cache_dir="cache")
        Downloading data from file:///...
        >>> Path(path).read_text()
        '1 2 3'

    Source: https://keras.io/api/utils/python_utils/
    """
    if origin is None:
        raise ValueError("get_file: origin, the address of the file, must be given.")
    name = os.fspath(fname) if fname else Path(urlsplit(origin).path).name
    if not name:
        raise ValueError(f"get_file: fname must be given, since {origin!r} ends in no name of a file.")
    if fname and Path(name).name != name:
        raise ValueError(f"get_file: fname must be a name without folders, which cache_dir is for; found {name!r}.")
    folder, target = _names(name, is_given=bool(fname)) if extract or untar else (None, name)
    own = {"cache_subdir": cache_subdir, "cache_dir": None if cache_dir is None else os.fspath(cache_dir)}
    hashes = {"md5_hash": md5_hash, "file_hash": file_hash, "hash_algorithm": hash_algorithm}
    path = _downloaded(target, origin, force_download, {**own, **hashes})
    if folder is None:
        return str(path)
    if not annex("downloads").unpack(path, path.parent / folder, "tar" if untar else archive_format):
        warnings.warn(f"get_file: {path} is no archive of the formats {archive_format!r}.", stacklevel=2)
    return str(path.parent / folder)


def _names(name: str, is_given: bool) -> tuple[str, str]:
    """The folder that an archive is unpacked into, and the file that it is kept as."""
    if is_given and "." in name:
        return f"{name[: name.find('.')]}_extracted", name
    return name, f"{name}_archive"


def _downloaded(target: str, origin: str, force: bool, options: dict[str, Any]) -> Path:
    get = annex("downloads").get_file
    if not force:
        return Path(get(target, origin, **options))
    new = Path(get(f"{target}.new", origin, **options))  # the old one stays until the new one is whole
    return new.replace(new.with_name(target))

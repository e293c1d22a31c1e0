"""What is unpacked is no more than may be, to the byte, and what is read is what was written."""

import io
import zipfile

import numpy as np
import pytest

from hidviz.experiments.archive import DamagedError, arrays, member, opened


def zipped(**members):
    """A zip archive with these members."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return file.getvalue()


def npy(values, shape=None, version=None):
    """The file of an array, whose header may say another shape or version."""
    values = np.asarray(values)
    file = io.BytesIO()
    about = {"descr": values.dtype.str, "fortran_order": False, "shape": values.shape if shape is None else shape}
    np.lib.format.write_array_header_1_0(file, about)
    content = bytearray(file.getvalue() + values.tobytes())
    if version is not None:
        content[6:8] = bytes(version)
    return bytes(content)


def npz(**members):
    return zipped(**{f"{name}.npy": content for name, content in members.items()})


def test_an_archive_is_read_up_to_its_largest_size(tmp_path):
    content = zipped(a=np.random.default_rng(0).bytes(5 * 2**20))
    (tmp_path / "a.zip").write_bytes(content)
    for source in (lambda: io.BytesIO(content), lambda: tmp_path / "a.zip", lambda: str(tmp_path / "a.zip")):
        assert opened(source(), len(content)).namelist() == ["a"]
        with pytest.raises(DamagedError, match=r"^it must have at most 5 MB\.$"):
            opened(source(), len(content) - 1)


def test_a_member_is_unpacked_up_to_its_largest_size():
    archive = opened(io.BytesIO(zipped(a=bytes(3 * 2**18))), 2**20)
    assert member(archive, "a", 3 * 2**18) == bytes(3 * 2**18)
    with pytest.raises(DamagedError, match=r"^a in it must unpack to at most 0\.75 MB\.$"):
        member(archive, "a", 3 * 2**18 - 1)


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_a_member_is_there_once():
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("a", b"one")
        archive.writestr("a", b"two")
    for name, n in (("a", 2), ("b", 0)):
        with pytest.raises(DamagedError, match=rf"^it must hold one {name}, got {n}\.$"):
            member(opened(io.BytesIO(file.getvalue()), 2**20), name, 100)


def test_arrays_come_out_as_they_went_in():
    wanted = {"a": np.arange(6.0).reshape(2, 3), "b": np.zeros((0, 4)), "c": np.asfortranarray(np.ones((3, 2)))}
    file = io.BytesIO()
    np.savez(file, **wanted)
    found = arrays(file.getvalue(), {"a": 6, "b": 0, "c": 6})
    assert list(found) == ["a", "b", "c"]
    for name, values in wanted.items():
        assert np.array_equal(found[name], values)
        assert found[name].shape == values.shape


def test_an_array_has_the_room_of_its_numbers_and_of_a_header():
    most = 1000 + (1024 - 128) // 8
    assert len(arrays(npz(a=npy(np.zeros(most))), {"a": 1000})["a"]) == most
    with pytest.raises(DamagedError, match=r"^a\.npy in it must unpack to at most"):
        arrays(npz(a=npy(np.zeros(most + 1))), {"a": 1000})


@pytest.mark.parametrize(
    "content",
    [
        npy(np.zeros(3, dtype=np.int64)),
        npy(np.zeros(3, dtype=">f8")),
        npy(np.zeros(3), version=(1, 1)),
        npy(np.zeros(5), shape=(-1, -5)),
        npy(np.zeros(5), shape=(4,)),
        npy(np.zeros(5), shape=(6,)),
    ],
    ids=["whole numbers", "the other way round", "another version", "less than nothing", "too many", "too few"],
)
def test_an_array_that_is_not_what_it_says_is_refused(content):
    with pytest.raises(DamagedError, match=r"^its array a must hold as many 64-bit floats as it says\.$"):
        arrays(npz(a=content), {"a": 10})


def test_the_arrays_are_those_asked_for():
    content = npz(a=npy(np.zeros(2)), b=npy(np.zeros(2)))
    for names in ("a", "abc", "ac"):
        with pytest.raises(DamagedError, match=f"^its arrays must be {', '.join(names)}\\.$"):
            arrays(content, dict.fromkeys(names, 2))
    with pytest.raises(DamagedError, match=r"^its array a must hold finite numbers\.$"):
        arrays(npz(a=npy([0.0, np.inf])), {"a": 2})
    with pytest.raises(DamagedError, match=r"^its array a has no readable header\.$"):
        arrays(npz(a=b"nothing"), {"a": 2})

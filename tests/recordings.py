"""Small recordings in files, made from the recording that is shipped."""

from pathlib import Path

import numpy as np
from scipy.io import savemat

from hidviz.network.read_spikes import read_spikes

SHIPPED = Path(__file__).parent.parent / "assets" / "recordings" / "hippocampus.mat"


def hippocampus(stop=100.0):
    """Spike times of the 16 units, to `stop` seconds."""
    (trial,) = read_spikes(SHIPPED).trials
    return [train[train < stop] for train in trial.trains]


def write_events(path, trains, names=None):
    rows = sorted((t, k if names is None else names[k]) for k, train in enumerate(trains) for t in train)
    path.write_text("time,unit\n" + "".join(f"{t:.6f},{unit}\n" for t, unit in rows))
    return path


def write_cells(path, trains, **more):
    cells = np.empty((len(trains), 1), dtype=object)
    for k, train in enumerate(trains):
        cells[k, 0] = train[:, None]
    savemat(path, {"unit_t": cells, **more})
    return path


def write_nwb(path, trains, *, trials=((0.0, 50.0), (50.0, 100.0)), names=None):
    """The tables of NWB 2 that hold spikes, as pynwb lays them out."""
    import h5py

    with h5py.File(path, "w") as file:
        units = file.create_group("units")
        units["spike_times"] = np.concatenate(trains)
        units["spike_times_index"] = np.cumsum([len(train) for train in trains])
        units["id"] = np.arange(len(trains))
        if names is not None:
            units["unit_name"] = np.array(names, dtype="S")
        table = file.create_group("intervals/trials")
        table["start_time"], table["stop_time"] = np.array(trials).T
    return path


def write_v73(path, *, trains=None, matrix=None):
    """MATLAB 7.3: HDF5 after 512 bytes, arrays transposed, cells as references."""
    import h5py

    with h5py.File(path, "w", userblock_size=512) as file:
        if matrix is not None:
            file["spikes15"] = np.asarray(matrix, dtype=np.float64).T
        if trains is not None:
            cells = file.create_dataset("unit_t", (1, len(trains)), dtype=h5py.ref_dtype)
            for k, train in enumerate(trains):
                file[f"#refs#/{k}"] = train[None, :]
                cells[0, k] = file[f"#refs#/{k}"].ref
    return path

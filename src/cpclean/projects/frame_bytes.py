"""Dataframes as bytes and back: the same library, columns, dtypes, index and values.

pandas, which is always installed, goes column by column. polars and pyarrow write Arrow's file
format themselves. A machine without the library of a frame can still open the project; only the
frame itself needs the library. Libraries are imported where they are used: they load slowly, or may
be missing.
"""

from __future__ import annotations

import io
from importlib.util import find_spec
from typing import Any

import narwhals as nw
import numpy as np

from cpclean.data.domains import Domains, DomainTable
from cpclean.data.frames import distinct_names, is_frame, unmasked
from cpclean.errors import StorageError, TableError
from cpclean.projects.packing import Packer, Unpacker
from cpclean.projects.plain_values import packed, packed_zone, unpacked, unpacked_zone


def pack_frame(frame: Any, into: Packer) -> Any:
    """A pandas, polars or pyarrow frame, a 2-d array, or a DomainTable."""
    if isinstance(frame, DomainTable):
        return {"domains": _packed_domains(frame.repairs), "frame": pack_frame(frame.frame, into)}
    if not is_frame(frame):
        return {"library": "numpy", "array": into.array(np.asarray(unmasked(frame)), "the array")}
    distinct_names(frame)  # refuses frames that are not in memory
    library = str(nw.from_native(frame, eager_only=True).implementation)
    if library in ("polars", "pyarrow"):
        return {"library": library, "arrow": into.blob(_arrow_bytes(frame, library))}
    if library != "pandas":
        frame = nw.from_native(frame, eager_only=True).to_pandas()
    names = list(frame.columns)
    return {
        "library": "pandas",
        "names": [packed(name, "the columns' names") for name in names],
        "columns": [
            _packed_series(frame.iloc[:, place], into, f"column {str(name)!r}")
            for place, name in enumerate(names)
        ],
        "index": pack_index(frame.index, into),
    }


def unpack_frame(stored: Any, source: Unpacker) -> Any:
    """The frame that was packed; its library must be installed."""
    if "domains" in stored:
        domains = _unpacked_domains(stored["domains"])
        return DomainTable(unpack_frame(stored["frame"], source), domains)
    library = stored["library"]
    if library == "numpy":
        return source.array(stored["array"])
    if not is_installed(library):
        raise StorageError(
            f"the table is a frame of {library}, which is not installed here. Install it to see "
            f"the frame: pip install {library}."
        )
    if library != "pandas":
        return _from_arrow(source.blob(stored["arrow"]), library)
    import pandas

    index = unpack_index(stored["index"], source)
    columns = [_unpacked_series(one, source).set_axis(index) for one in stored["columns"]]
    frame = pandas.concat(columns, axis=1) if columns else pandas.DataFrame(index=index)
    names = [unpacked(name) for name in stored["names"]]
    frame.columns = pandas.Index(names) if names else frame.columns
    return frame


def is_installed(library: str) -> bool:
    """Whether a library can be imported here, without doing so."""
    return find_spec(library) is not None


# -- Arrow ---------------------------------------------------------------------------------------


def _arrow_bytes(frame: Any, library: str) -> bytes:
    out = io.BytesIO()
    try:
        if library == "polars":
            frame.write_ipc(out)
        else:
            from pyarrow import ipc  # type: ignore[import-untyped]

            with ipc.new_file(out, frame.schema) as writer:
                writer.write_table(frame)
    except Exception as problem:  # polars has errors of its own kind
        raise TableError(
            f"the frame cannot be saved: {problem}. Convert its columns to simpler types first."
        ) from problem
    return out.getvalue()


def _from_arrow(content: bytes, library: str) -> Any:
    if library == "polars":
        import polars

        return polars.read_ipc(io.BytesIO(content))
    from pyarrow import ipc

    return ipc.open_file(io.BytesIO(content)).read_all()


# -- pandas --------------------------------------------------------------------------------------


def _packed_series(series: Any, into: Packer, where: str) -> Any:
    import pandas

    dtype, values = series.dtype, series.array
    head = {"dtype": str(dtype)}
    if isinstance(dtype, np.dtype) and dtype.kind in "biufc":
        return {**head, "array": into.array(series.to_numpy(), where)}
    if isinstance(dtype, np.dtype) and dtype.kind in "mM":
        return {**head, "ticks": into.array(series.to_numpy().view(np.int64), where)}
    if isinstance(dtype, pandas.DatetimeTZDtype):
        ticks = series.dt.tz_convert("UTC").dt.tz_localize(None).to_numpy()
        zone = packed_zone(dtype.tz, where)
        return {
            "dtype": ticks.dtype.str,
            "zone": zone,
            "ticks": into.array(ticks.view("i8"), where),
        }
    if isinstance(dtype, pandas.CategoricalDtype):
        categories = _packed_series(values.categories.to_series(), into, where)
        codes = into.array(np.asarray(values.codes), where)
        return {"categories": categories, "ordered": bool(dtype.ordered), "codes": codes}
    arrays = pandas.arrays
    if isinstance(values, arrays.IntegerArray | arrays.FloatingArray | arrays.BooleanArray):
        missing = np.asarray(series.isna())
        plain = dtype.numpy_dtype if hasattr(dtype, "numpy_dtype") else np.dtype(bool)
        filled = series.to_numpy(dtype=plain, na_value=plain.type(0))
        where_null = into.array(missing, where)
        return {**head, "array": into.array(filled, where), "missing": where_null}
    if isinstance(dtype, pandas.StringDtype):
        texts = [None if null else text for text, null in zip(series, series.isna(), strict=True)]
        return {**head, "storage": dtype.storage, "texts": texts}
    objects = np.empty(len(series), dtype=object)
    for place, value in enumerate(series.tolist()):
        objects[place] = value
    return {**head, "objects": into.array(objects, where)}


def _unpacked_series(stored: Any, source: Unpacker) -> Any:
    import pandas

    if "categories" in stored:
        categories = _unpacked_series(stored["categories"], source)
        return pandas.Series(
            pandas.Categorical.from_codes(
                source.array(stored["codes"]), pandas.Index(categories), stored["ordered"]
            )
        )
    dtype = stored["dtype"]
    if "zone" in stored:
        ticks = pandas.Series(source.array(stored["ticks"]).view(dtype))
        zone = unpacked_zone(stored["zone"])
        return ticks.dt.tz_localize("UTC").dt.tz_convert(zone)
    if "ticks" in stored:
        return pandas.Series(source.array(stored["ticks"]).view(dtype))
    if "missing" in stored:
        arrays = pandas.arrays
        kinds = {"b": arrays.BooleanArray, "f": arrays.FloatingArray}
        values = source.array(stored["array"]).copy()
        made = kinds.get(values.dtype.kind, arrays.IntegerArray)
        return pandas.Series(made(values, source.array(stored["missing"]).copy()))
    if "array" in stored:
        return pandas.Series(source.array(stored["array"]), copy=True)
    if "texts" in stored:
        return _texts(stored["texts"], dtype, stored["storage"])
    objects = pandas.Series(source.array(stored["objects"]), dtype=object)
    try:
        return objects.astype(dtype)
    except (TypeError, ValueError, ImportError):  # a dtype that this machine does not have
        return objects


def _texts(texts: list[Any], dtype: str, storage: str) -> Any:
    """A column of text; pandas has several kinds, which differ in their null and their storage."""
    import pandas

    null = pandas.NA if dtype.startswith("string") else np.nan
    for wanted in (lambda: pandas.StringDtype(storage, na_value=null), lambda: dtype):
        try:
            return pandas.Series(texts, dtype=wanted())
        except (TypeError, ValueError, ImportError):  # an older pandas, or one without pyarrow
            continue
    return pandas.Series(texts, dtype=object)


def pack_index(index: Any, into: Packer) -> Any:
    """The index of a pandas frame; None for anything else."""
    if index is None:
        return None
    import pandas

    names = [packed(name, "the names of the index") for name in index.names]
    if isinstance(index, pandas.RangeIndex):
        return {"range": [index.start, index.stop, index.step], "names": names}
    levels = [
        _packed_series(index.get_level_values(level).to_series(), into, "the index")
        for level in range(index.nlevels)
    ]
    return {"levels": levels, "names": names}


def unpack_index(stored: Any, source: Unpacker) -> Any:
    """The index that was packed."""
    if stored is None:
        return None
    import pandas

    names = [unpacked(name) for name in stored["names"]]
    if "range" in stored:
        return pandas.RangeIndex(*stored["range"], name=names[0])
    levels = [_unpacked_series(one, source) for one in stored["levels"]]
    if len(levels) > 1:
        return pandas.MultiIndex.from_arrays(levels, names=names)
    return pandas.Index(levels[0], name=names[0])


# -- explicit domains ------------------------------------------------------------------------------


def _packed_domains(domains: Domains) -> Any:
    def listed(values: tuple[Any, ...], name: str) -> list[Any]:
        return [packed(value, f"the domain of column {name!r}") for value in values]

    return {
        "n_rows": domains.n_rows,
        "by_column": [[name, listed(values, name)] for name, values in domains.by_column.items()],
        "by_cell": [
            [row, name, listed(values, name)] for (row, name), values in domains.by_cell.items()
        ],
        "kept": None if domains.kept is None else list(domains.kept),
    }


def _unpacked_domains(stored: Any) -> Domains:
    def listed(values: list[Any]) -> tuple[Any, ...]:
        return tuple(map(unpacked, values))

    kept = stored["kept"]
    return Domains(
        stored["n_rows"],
        {name: listed(values) for name, values in stored["by_column"]},
        {(row, name): listed(values) for row, name, values in stored["by_cell"]},
        None if kept is None else tuple(kept),
    )

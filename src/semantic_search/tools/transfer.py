"""Export and import: an index as one file, to another store or another machine, without embedding again."""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from .. import index_files
from ..corpus import Corpus
from ..errors import FolderError, IndexDamaged, IndexOutdated, IndexTooNew, NoIndex, StoreError
from ..folders import Folder, find_folder, name_folders
from ..private_files import make_private_directory
from ..stores import Store, open_store
from ..stores.copying import Copied, copy_index

# An export is an index of the default store, with this beside what every index remembers.
FORMAT = "sqlite"
FINGERPRINT = "fingerprint"

OnFile = Callable[[int], None]


@dataclass(frozen=True, slots=True)
class Transfer:
    """What was exported or imported: the file, its size in bytes, the folders, and how much in all."""

    file: str
    size: int
    folders: tuple[Folder, ...]
    copied: Copied
    notes: tuple[str, ...] = ()


def export_index(
    corpus: Corpus, file: str, names: Sequence[str] = (), on_file: OnFile = lambda _done: None
) -> Transfer:
    """Writes the index that is searched, or the named folders of it, to one file.

    The file appears whole or not at all. Raises NoIndex, StoreError, FolderError.
    """
    path = os.path.abspath(os.path.expanduser(file))
    if os.path.isdir(path):
        raise StoreError(f"{file} is a directory: name a file to export to")
    store, _ = corpus.reading()
    folders = name_folders(store.folders())
    if names:
        folders = tuple(dict.fromkeys(find_folder(folders, name) for name in names))
    unfinished = path + ".part"
    _remove(unfinished)
    try:
        with contextlib.closing(open_store(FORMAT, unfinished, create=True)) as target:
            with store.snapshot():
                copied = copy_index(store, target, {f.path: f.path for f in folders}, on_file)
            target.set_meta(index_files.MODEL, store.meta(index_files.MODEL))
            target.set_meta(FINGERPRINT, _fingerprint_of(corpus, store))
            if not names:
                target.set_meta(index_files.COMPLETE, store.meta(index_files.COMPLETE))
            target.tidy()
        os.replace(unfinished, path)
    except OSError as error:
        raise StoreError(f"{file} cannot be written: {error.strerror or error}") from error
    finally:
        _remove(unfinished)
    return Transfer(path, os.stat(path).st_size, folders, copied)


def _remove(path: str) -> None:
    for ending in ("", "-wal", "-shm", ".new"):
        with contextlib.suppress(FileNotFoundError):
            os.unlink(path + ending)


def _fingerprint_of(corpus: Corpus, store: Store) -> str:
    s = corpus.settings
    for found in index_files.index_files(s.index_location, s.store):
        if found.path == store.path:
            return found.fingerprint
    raise StoreError("another process replaced the index meanwhile: try again")


def import_index(
    corpus: Corpus, file: str, mapping: Mapping[str, str], on_file: OnFile = lambda _done: None
) -> Transfer:
    """Takes the folders of an export into the index, each as the directory it is mapped to by name.

    A folder that is not named is taken as the configured folder of its name, or as the directory of its path
    where there is one on this machine. What the index has of a folder is replaced, other folders stay. Raises
    FolderError when a folder has no place here, StoreError when the file is none of ours, is damaged, or was
    made with other settings than those in force.
    """
    path = os.path.abspath(os.path.expanduser(file))
    if not os.path.isfile(path):
        raise StoreError(f"{file}: there is no such file")
    directory = corpus.settings.paths.index_directory
    make_private_directory(directory)
    with tempfile.TemporaryDirectory(prefix="import-", dir=directory) as place:
        # To open it is to write to it: the file may be on a medium, or in a place, where that cannot be.
        copy = os.path.join(place, "import.sqlite3")
        shutil.copyfile(path, copy)
        with contextlib.closing(_opened(copy, file)) as source:
            folders = _places(corpus, name_folders(source.folders()), mapping)
            notes = _check_fingerprint(corpus, source, file)
            with corpus.writing() as target:
                copied = copy_index(source, target, {old: new.path for old, new in folders.items()}, on_file)
                target.tidy()
    return Transfer(path, os.stat(path).st_size, tuple(folders.values()), copied, notes)


def _opened(copy: str, file: str) -> Store:
    try:
        source = open_store(FORMAT, copy)
    except (NoIndex, IndexDamaged) as error:
        raise StoreError(f"{file} is damaged, or no export: export the index anew") from error
    except IndexTooNew as error:
        raise StoreError(f"{file} was exported by a newer release: upgrade semantic-search-mcp") from error
    except IndexOutdated as error:
        raise StoreError(f"{file} was exported by an older release: upgrade that one, export anew") from error
    with contextlib.ExitStack() as unless_sound:
        unless_sound.callback(source.close)
        if source.check():
            raise StoreError(f"{file} is damaged: export the index anew")
        if not source.meta(FINGERPRINT):
            raise StoreError(f"{file} has no fingerprint: make an export with `semantic-search export`")
        unless_sound.pop_all()
    return source


def _check_fingerprint(corpus: Corpus, source: Store, file: str) -> tuple[str, ...]:
    theirs = source.meta(FINGERPRINT)
    if theirs == corpus.fingerprint():
        return ()
    model = source.meta(index_files.MODEL)
    if model != corpus.settings.model:
        raise StoreError(
            f"{file} was made with the model {model}, this index has {corpus.settings.model}: run "
            f"`semantic-search config modelName {model}` first"
        )
    raise StoreError(
        f"{file} was made with another version of this program or of the model, or with other `chunk` "
        "settings: make both equal, then export again"
    )


def _places(corpus: Corpus, folders: Sequence[Folder], mapping: Mapping[str, str]) -> dict[str, Folder]:
    """For each folder of an export, by path, the folder that it is here."""
    names = {folder.name for folder in folders}
    unknown = sorted(set(mapping) - names)
    if unknown:
        raise FolderError(f"{', '.join(unknown)}: not in the export. There are: {', '.join(sorted(names))}")
    configured = {folder.name: folder.path for folder in corpus.folders}
    found = {}
    nowhere = []
    for folder in folders:
        own = folder.path if os.path.isdir(folder.path) else ""
        path = mapping.get(folder.name) or configured.get(folder.name) or own
        if path and os.path.isdir(os.path.expanduser(path)):
            found[folder.path] = Folder(folder.name, os.path.realpath(os.path.expanduser(path)))
        else:
            nowhere.append(folder.name)
    if nowhere:
        options = " ".join(f"--map {name}=PATH" for name in nowhere)
        raise FolderError(f"where are these folders on this machine? Say so with {options}")
    if len({folder.path for folder in found.values()}) < len(found):
        raise FolderError("two folders of the export are mapped to one directory")
    return found

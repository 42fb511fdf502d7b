"""Extensions, and those under which files are not text."""

from __future__ import annotations

_BINARY = """
.png .jpg .jpeg .jpe .gif .bmp .tif .tiff .webp .avif .heic .heif .ico .icns .cur .psd .psb .xcf .ai
.eps .raw .cr2 .cr3 .nef .arw .dng .orf .rw2 .tga .dds .exr .hdr .jxl .jp2 .mp3 .m4a .aac .flac .ogg
.oga .opus .wav .wma .aif .aiff .amr .mid .midi .ape .mp4 .m4v .mov .avi .mkv .webm .wmv .flv .mpg .mpeg
.3gp .ogv .vob .mts .zip .gz .tgz .bz2 .tbz .tbz2 .xz .txz .lz .lz4 .lzma .zst .tzst .br .z .7z .rar
.tar .cab .arj .ar .cpio .iso .dmg .img .vhd .vhdx .vmdk .qcow2 .ova .deb .rpm .apk .aab .ipa .msi .msix
.appx .snap .flatpak .xpi .crx .jar .war .ear .whl .egg .nupkg .gem .crate .pyz .asar .ttf .otf .woff
.woff2 .eot .ttc .pfb .pfm .exe .dll .so .dylib .a .lib .o .obj .ko .elf .com .sys .bin .class .dex .pyc
.pyo .pyd .beam .hi .wasm .rlib .rmeta .pdb .ilk .exp .pch .gch .idb .nib .node .luac .elc .bc .swf .prg
.safetensors .gguf .ggml .onnx .ort .pt .pth .ckpt .pb .tflite .mlmodel .h5 .hdf5 .keras .npy .npz .pkl
.pickle .joblib .mat .rds .rdata .parquet .feather .arrow .orc .avro .lance .faiss .pte .task .db .db3
.sqlite .sqlite3 .sqlitedb .db-wal .db-shm .db-journal .sqlite-wal .sqlite-shm .mdb .accdb .ldb .sst
.frm .ibd .myd .myi .dbf .mdf .ldf .realm .rdb .xlsb .odg .pages .numbers .mobi .azw
.azw3 .djvu .chm .fig .sketch .blend .fbx .glb .3ds .max .dwg .skp
.stp .f3d .swp .swo .swn .ds_store .pcap .pcapng .cap .dmp .core .hprof .trace .jfr .pack .idx .rev .mo
.qm .gmo .lnk .torrent .sav .unitypackage .uasset .umap .pak
"""
BINARY_EXTENSIONS = frozenset(_BINARY.split())


def extension(name: str) -> str:
    """The lower-cased last extension with its dot (`.gz` of `a.TAR.GZ`, `.env` of `.env`), or nothing."""
    dot = name.rfind(".")
    return name[dot:].lower() if dot >= 0 else ""


def normalised(extensions: frozenset[str]) -> frozenset[str]:
    """Extensions as users write them (`PNG`, `.png`, `*.png`) in the form that `extension` gives."""
    stripped = (each.strip().lstrip("*").lower() for each in extensions)
    return frozenset(each if each.startswith(".") else f".{each}" for each in stripped if each)

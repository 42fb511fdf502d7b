"""What a file's name alone says: binary data, or a credential."""

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
.frm .ibd .myd .myi .dbf .mdf .ldf .realm .rdb .doc .xls .ppt .xlsx .xlsm .xlsb .pptx .pptm .odt .ods
.odp .odg .pages .numbers .mobi .azw .azw3 .djvu .chm .fig .sketch .blend .fbx .glb .3ds .max .dwg .skp
.stp .f3d .swp .swo .swn .ds_store .pcap .pcapng .cap .dmp .core .hprof .trace .jfr .pack .idx .rev .mo
.qm .gmo .lnk .torrent .sav .unitypackage .uasset .umap .pak
"""
BINARY_EXTENSIONS = frozenset(_BINARY.split())

_KEY_STORES = """
.pem .key .p12 .pfx .p8 .pk8 .ppk .jks .jceks .bks .keystore .truststore .kdb .kdbx .keychain
.keychain-db .keytab .env .agekey .ovpn .tfstate .mobileprovision
"""
_SECRET_EXTENSIONS = frozenset(_KEY_STORES.split())
_CREDENTIALS = """
.netrc _netrc .git-credentials .pypirc .pgpass .my.cnf .mylogin.cnf .htpasswd .dockercfg
.dockerconfigjson .boto .s3cfg .databrickscfg .vault-token .vault_pass .vault-pass .npm-token .envrc
credentials credentials.json credentials.toml credentials.yml credentials.yaml credentials.csv
credentials.xml secrets.json secrets.yml secrets.yaml secrets.toml secret.json secret.yml secret.yaml
application_default_credentials.json access_tokens.db credentials.db service-account.json
service_account.json serviceaccount.json accesstokens.json terraform.tfstate.backup wallet.dat
logins.json key3.db key4.db
"""
_SECRET_NAMES = frozenset(_CREDENTIALS.split())
_SECRET_DIRECTORIES = frozenset((".ssh", ".gnupg", ".password-store", ".aws", ".azure"))
_SECRET_PATHS = (
    ".docker/config.json",
    ".kube/config",
    ".config/gh/hosts.yml",
    ".config/hub",
    ".m2/settings-security.xml",
)
_SECRET_STARTS = (".env", "id_", "client_secret")
_PRIVATE_KEYS = frozenset(
    ("id_rsa", "id_dsa", "id_ecdsa", "id_ed25519", "id_ecdsa_sk", "id_ed25519_sk", "id_xmss")
)
_EXAMPLE_ENDINGS = (".example", ".sample", ".template", ".dist", ".tmpl", ".tpl", ".md", ".d.ts")


def extension(name: str) -> str:
    """The lower-cased last extension with its dot (`.gz` of `a.TAR.GZ`, `.env` of `.env`), or nothing."""
    dot = name.rfind(".")
    return name[dot:].lower() if dot >= 0 else ""


def normalised(extensions: frozenset[str]) -> frozenset[str]:
    """Extensions as users write them (`PNG`, `.png`, `*.png`) in the form that `extension` gives."""
    stripped = (each.strip().lstrip("*").lower() for each in extensions)
    return frozenset(each if each.startswith(".") else f".{each}" for each in stripped if each)


def is_secret(path: str, name: str) -> bool:
    """Whether the name is one under which credentials or private keys are kept.

    Example files (`.env.example`) and public keys (`id_rsa.pub`) are not: the content check sees to them.
    """
    lower = name.lower()
    if lower in _SECRET_NAMES or extension(lower) in _SECRET_EXTENSIONS:
        return True
    if lower.startswith(_SECRET_STARTS) and _secret_start(lower):
        return True
    if "/" not in path or "." not in path:
        return False
    return path.endswith(_SECRET_PATHS) or not _SECRET_DIRECTORIES.isdisjoint(path.split("/")[:-1])


def _secret_start(lower: str) -> bool:
    if lower.endswith(_EXAMPLE_ENDINGS):
        return False
    if lower.startswith(".env"):
        return len(lower) == 4 or not lower[4].isalnum()
    if lower.startswith("id_"):
        stem, _, rest = lower.partition(".")
        return stem.rstrip("~") in _PRIVATE_KEYS and rest != "pub"
    return lower.endswith(".json")

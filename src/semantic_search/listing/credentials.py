"""Files that hold credentials or private keys: told by name, and by a cheap look at the content."""

from __future__ import annotations

import re

from .names import extension

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

_KEY = re.compile(
    rb"-----BEGIN (?:[A-Z0-9]+ ){0,3}PRIVATE KEY(?: BLOCK)?-----"
    rb"(?:\s|\\[nr]|[\"'+,\\#*/]"
    rb"|(?:Proc-Type|DEK-Info|Version|Comment|Hash): ?[^\r\n\\]{0,200}(?=[\r\n\\])){1,200}?"
    rb"[A-Za-z0-9+/=]{40}"
)
_TOKEN = re.compile(
    rb"(?<![A-Za-z0-9_])(?:"
    rb"gh[pousr]_(?P<github>[A-Za-z0-9]{36,251})"
    rb"|github_pat_(?P<github_pat>[A-Za-z0-9]{22}_[A-Za-z0-9]{59})"
    rb"|glpat-(?P<gitlab>[A-Za-z0-9_-]{20,})"
    rb"|xox[abeprs]-(?P<slack>[0-9]{8,}-[0-9A-Za-z-]{20,})"
    rb"|[rs]k_live_(?P<stripe>[0-9A-Za-z]{24,})"
    rb"|sk-ant-(?:api|admin|oat)[0-9]{2}-(?P<anthropic>[A-Za-z0-9_-]{80,})"
    rb"|sk-(?P<openai>[A-Za-z0-9_-]{16,}T3BlbkFJ[A-Za-z0-9_-]{16,})"
    rb"|npm_(?P<npm>[A-Za-z0-9]{36})(?![A-Za-z0-9])"
    rb"|pypi-AgEIcHlwaS5vcmc(?P<pypi>[A-Za-z0-9_-]{50,})"
    rb"|hf_(?P<hugging_face>[A-Za-z0-9]{34})(?![A-Za-z0-9])"
    rb"|SG\.(?P<sendgrid>[A-Za-z0-9_-]{22}\.[A-Za-z0-9_-]{43})"
    rb"|GOCSPX-(?P<google>[A-Za-z0-9_-]{28})"
    rb"|dop_v1_(?P<digitalocean>[a-f0-9]{64})"
    rb")"
)
_TOKEN_MARKS = re.compile(
    rb"gh[pousr]_|github_pat_|glpat-|xox[abeprs]-|k_live_|sk-|npm_|pypi-Ag|hf_|SG\.|GOCSPX-|dop_v1_"
)
_PLACEHOLDER = re.compile(rb"example|xxxx|0000|1234567|abcdef|your|\.\.\.", re.IGNORECASE)


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


def holds_secret(data: bytes) -> bool:
    """Whether the content has a private key or a token of a well-known service in it.

    A header without a key body and a token that is a placeholder (`ghp_xxxx…`, EXAMPLE) do not count.
    """
    if b"PRIVATE KEY" in data and _KEY.search(data) is not None:
        return True
    if _TOKEN_MARKS.search(data) is None:
        return False
    return any(_is_random(match) for match in _TOKEN.finditer(data))


def _is_random(match: re.Match[bytes]) -> bool:
    body = match.group(match.lastgroup or 0)
    return len(set(body)) >= 10 and _PLACEHOLDER.search(body) is None

"""Checks the digest of an archive and unpacks the wanted files. Standard library only.

usage: unpack.py ARCHIVE SHA256 FOLDER SUFFIX...
"""
import hashlib
import io
import pathlib
import sys
import tarfile
import zipfile

archive, expected, folder, *suffixes = sys.argv[1:]
data = pathlib.Path(archive).read_bytes()
digest = hashlib.sha256(data).hexdigest()
if digest != expected:
    sys.exit(f"its SHA-256 is {digest}, not {expected}")


def debian_data(package):
    """The tar file with a Debian package's files: a member of an `ar` archive."""
    at = 8
    while at < len(package):
        name, size = package[at : at + 16].decode().strip(" /"), int(package[at + 48 : at + 58])
        if name.startswith("data.tar"):
            return package[at + 60 : at + 60 + size]
        at += 60 + size + size % 2
    sys.exit("it holds no data.tar")


def members():
    if data.startswith(b"PK"):
        with zipfile.ZipFile(io.BytesIO(data)) as package:
            for name in package.namelist():
                yield name, lambda name=name: package.read(name)
    else:
        tar = debian_data(data) if data.startswith(b"!<arch>") else data
        with tarfile.open(fileobj=io.BytesIO(tar)) as package:
            for member in package:
                if member.isfile():
                    yield member.name, lambda member=member: package.extractfile(member).read()


for name, read in members():
    parts = [part for part in name.split("/") if part not in ("", ".")]
    if ".." not in parts and name.endswith(tuple(suffixes)):
        target = pathlib.Path(folder, *parts)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(read())

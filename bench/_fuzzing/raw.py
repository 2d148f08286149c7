"""Changes to bytes as they lie, whatever they mean."""

from __future__ import annotations

import random
import struct
from collections.abc import Callable
from dataclasses import dataclass

from bench._fuzzing.tokens import NUMBERS, TOKENS

Change = Callable[[random.Random, bytes, "Around"], bytes]


@dataclass(frozen=True)
class Around:
    """What a change may take from elsewhere."""

    form: str
    other: bytes
    """Another seed, most often of the same kind."""


def _place(dice: random.Random, data: bytes) -> int:
    """Anywhere, and more often where heads and directories stand."""
    size = len(data)
    within = dice.choice((size, 64, 1_024, size, -1_024, -64))
    if within < 0:
        return dice.randrange(max(0, size + within), size)
    return dice.randrange(min(within, size))


def flip(dice: random.Random, data: bytes, _: Around) -> bytes:
    out = bytearray(data)
    for _number in range(dice.choice((1, 1, 2, 8, 64))):
        out[_place(dice, data)] ^= 1 << dice.randrange(8)
    return bytes(out)


def run(dice: random.Random, data: bytes, _: Around) -> bytes:
    """A run of one byte, or of random ones."""
    at, length = _place(dice, data), dice.choice((1, 2, 4, 16, 256))
    one = bytes([dice.choice((0, 0xFF, 0x20, 0x0A, 0x80, 0x7F))])
    new = one * length if dice.random() < 0.7 else dice.randbytes(length)
    return data[:at] + new + data[at + length :]


def cut_off(dice: random.Random, data: bytes, _: Around) -> bytes:
    return data[: max(1, dice.choice((_place(dice, data), len(data) - dice.randrange(1, 16))))]


def head_off(dice: random.Random, data: bytes, _: Around) -> bytes:
    return data[dice.choice((1, 2, 4, 512, _place(dice, data))) :] or b"\0"


def splice(dice: random.Random, data: bytes, around: Around) -> bytes:
    return data[: _place(dice, data)] + around.other[_place(dice, around.other) :]


def graft(dice: random.Random, data: bytes, around: Around) -> bytes:
    """A piece of another file in the middle of this one."""
    begin, at = _place(dice, around.other), _place(dice, data)
    piece = around.other[begin : begin + dice.choice((4, 64, 512, 4_096))]
    over = len(piece) if dice.random() < 0.5 else 0
    return data[:at] + piece + data[at + over :]


def length_field(dice: random.Random, data: bytes, _: Around) -> bytes:
    """A number of 1, 2, 4 or 8 bytes becomes one that programs trip over."""
    form = dice.choice("BHIQ")
    order = dice.choice("<>")
    size = struct.calcsize(form)
    at = _place(dice, data)
    if dice.random() < 0.7:
        at -= at % size
    if at + size > len(data):
        return data
    (value,) = struct.unpack_from(order + form, data, at)
    most = 256**size - 1
    new = dice.choice((0, 1, most, most >> 1, value + 1, value - 1, value * 2, len(data), 1 << 31))
    return data[:at] + struct.pack(order + form, new & most) + data[at + size :]


def chunk(dice: random.Random, data: bytes, _: Around) -> bytes:
    """A chunk is repeated, left out, or changes places with another."""
    at, length = _place(dice, data), dice.choice((1, 8, 64, 512, 4_096))
    piece = data[at : at + length]
    way = dice.randrange(3)
    if way == 0:
        return data[:at] + piece * dice.choice((2, 3, 50)) + data[at + length :]
    if way == 1:
        return data[:at] + data[at + length :] or b"\0"
    to = _place(dice, data)
    without = data[:at] + data[at + length :]
    return without[:to] + piece + without[to:]


def token(dice: random.Random, data: bytes, around: Around) -> bytes:
    """A word that the format knows, or a number that is too large, where it does not belong."""
    at = _place(dice, data)
    known = TOKENS.get(around.form, ())
    new = dice.choice((*known, *NUMBERS)) if known else dice.choice(NUMBERS)
    over = len(new) if dice.random() < 0.5 else 0
    return data[:at] + new + data[at + over :]


BYTES: tuple[Change, ...] = (
    *(flip, flip, run, cut_off, head_off, splice, graft),
    *(length_field, length_field, chunk, token),
)

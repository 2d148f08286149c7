"""Sentences in four languages about changes in foreign tables: the true ones must pass, those
turned round must be found.

`[rose|fell]` stands for the word that fits a rise and the one that fits a fall; the wrong sentence
takes the other one.
"""

from __future__ import annotations

import random
import re
from dataclasses import dataclass

from bench._receipts.series import Series, change_result, long_result, series, wide_result
from leaf.provenance.receipts.evidence import Evidence
from leaf.provenance.receipts.match import match

EACH = 12
"""Sentences of each kind, each about another pair of numbers."""
EN = """\
{n} [rose|fell] from {A} in {ya} to {B} in {yb}.
In {yb}, {n} [rose|fell] by {p} % to {B}.
{n} [increased|decreased] {p} % between {ya} and {yb}.
{n} [grew|shrank] by {d} from {ya} to {yb}.
{n} stood at {B} in {yb}, [up|down] from {A} in {ya}.
{n}: {A} → {B} ({ya} to {yb}), a [gain|drop] of {p} %.
We see [an increase|a decrease] of {p} % in {n} from {ya} to {yb}.
From {ya} to {yb}, {n} [climbed|slid] {p} %.
{n} was {p} % [higher|lower] in {yb} than in {ya}.
Compared with {ya}, {n} in {yb} [jumped|plunged] by {d}.
{n} in {yb} came to {B}, which is {p} % [more|less] than in {ya}.
- **{n} {yb}**: {B} ([+|−]{p} % against {ya})
Between {ya} and {yb} {n} [gained|lost] {d}, or {p} %.
Year on year, {n} [surged|tumbled] by {p} % in {yb}.
After {A} in {ya}, {n} [soared|sank] to {B} in {yb}.
{n} went [up|down] by {p} % from {ya} to {yb}.
The {p} % [growth|decline] of {n} in {yb} stands out.
{n} has [risen|fallen] from {A} to {B}.
{n} moved from {A} in {ya} to {B} in {yb}, [rising|falling] {p} %."""
DE = """\
{n} [stieg|fiel] von {A} ({ya}) auf {B} ({yb}).
{n} ist {yb} gegenüber {ya} um {p} % [gestiegen|gesunken].
{n} [nahm|ging] von {ya} auf {yb} um {p} % [zu|zurück].
{n} nahm von {ya} bis {yb} um {d} [zu|ab].
Das ist ein [Anstieg|Rückgang] von {n} um {p} % von {ya} auf {yb}.
{n} lag {yb} um {p} % [höher|niedriger] als {ya}.
{n} [wuchs|schrumpfte] {yb} um {p} % auf {B}.
{n} [erhöhte|verringerte] sich von {A} auf {B}.
Im Jahr {yb} war {n} um {d} [größer|kleiner] als {ya}.
{n} hat von {ya} auf {yb} {p} % [gewonnen|verloren]."""
FR = """\
{n} a [augmenté|diminué] de {p} % entre {ya} et {yb}.
En {yb}, {n} a [progressé|reculé] de {p} % pour atteindre {B}.
{n} a [grimpé|chuté] de {A} à {B}.
On observe une [hausse|baisse] de {p} % de {n} en {yb} par rapport à {ya}.
{n} était [supérieur|inférieur] de {p} % en {yb} à la valeur de {ya}.
La [croissance|réduction] de {n} est de {p} % de {ya} à {yb}.
{n} est en [hausse|recul] de {d} en {yb}."""
ES = """\
{n} [aumentó|disminuyó] un {p} % entre {ya} y {yb}.
{n} [subió|bajó] de {A} en {ya} a {B} en {yb}.
En {yb}, {n} [creció|cayó] un {p} % respecto a {ya}.
Se registró un [incremento|descenso] del {p} % de {n} en {yb}.
{n} fue un {p} % [mayor|menor] en {yb} que en {ya}.
Con {B} en {yb}, {n} [ganó|perdió] {d} frente a {ya}."""
HARD = """\
{n} did not [fall|rise] from {ya} to {yb}: it [rose|fell] by {p} %.
Contrary to what was expected, {n} [rose|fell] {p} % in {yb}.
If {n} had [fallen|risen] by {p} % in {yb}, nobody would be surprised.
The [rise|fall] of {p} % in {yb} is smaller than the one before.
Some say {n} [fell|rose] by {p} % in {yb}, which is wrong.
Going back from {yb} to {ya}, {n} [falls|rises] from {B} to {A}.
Before it [rose|fell] to {B} in {yb}, {n} was {A} in {ya}.
{n} was {A} in {ya}, [less|more] than the {B} of {yb}.
{n} may have [fallen|risen] elsewhere; here it is {B} in {yb} after {A} in {ya}, [+|−]{p} %.
Who would have thought that {n} [fell|rose] {p} % in {yb}?
In {yb} it is {B}, in {ya} {A}; the [rise|fall] is {p} %, not a [fall|rise].
A plan to [cut|lift] {n} by {p} % exists; it was {B} in {yb}.
{n} [rose|fell] by {p} % in {yb}, so the forecast of a further [fall|rise] looks odd.
It is up to the reader whether {p} % from {ya} to {yb} is much for {n}.
Broken down by {t}, {n} is {A} in {ya} and {B} in {yb}.
A less steep decline than feared: {n} is {B} in {yb}, {A} in {ya}.
Obwohl {n} {yb} nicht um {p} % [sank|stieg], sprechen manche davon.
In diesem Fall [stieg|fiel] {n} von {A} auf {B}.
{n} ist nicht [gefallen|gestiegen], sondern von {ya} auf {yb} um {p} % [gestiegen|gefallen].
Mehr als {A} war es {ya} nicht, {yb} waren es {B}.
Falls {n} um {p} % [fallen|steigen] sollte, wäre das neu ({yb}: {B}).
{n} n'a pas [baissé|augmenté] de {p} % en {yb}.
Sans la [baisse|hausse] redoutée, {n} vaut {B} en {yb} contre {A} en {ya}.
{n} vaut plus ou moins {B} en {yb}.
{n} no [cayó|subió] un {p} % en {yb}: al contrario.
Si {n} [bajara|subiera] un {p} % más, sería distinto de {B} en {yb}.
Más o menos {B} en {yb}, tras {A} en {ya}."""
"""True, or saying nothing of a direction; `[fell|rose]` within a denial is the word that does not
fit."""


@dataclass
class Found:
    """What came of it."""

    true: int = 0
    alarms: int = 0
    wrong: int = 0
    caught: int = 0
    lines: tuple[str, ...] = ()


def measure(seed: int) -> Found:
    """Every template over every shape of result."""
    chance = random.Random(seed)
    found = Found()
    known = series()
    for template in "\n".join((EN, DE, FR, ES)).split("\n"):
        for _ in range(EACH):
            _try(template, chance.choice(known), chance, found)
    for template in HARD.split("\n"):
        for _ in range(EACH):
            _try(template, chance.choice(known), chance, found, hard=True)
    return found


def _try(
    template: str, one: Series, chance: random.Random, found: Found, hard: bool = False
) -> None:
    made = _filled(template, one, chance)
    if made is None:
        return
    text, up, evidence = made
    said = _said(text, up)
    against = [r.against for r in match([said], [evidence]) if r.against]
    found.true += 1
    found.alarms += bool(against)
    if against:
        found.lines += (f"false alarm: {said} | {against[0]}",)
    if hard or "[" not in text:
        return
    said = _said(text, not up)
    receipts = match([said], [evidence])
    found.wrong += 1
    caught = any(r.against for r in receipts)
    found.caught += caught
    if not caught:
        kinds = [(r.text, r.kind, r.how) for r in receipts]
        found.lines += (f"not found: {said} | {kinds}",)


def _filled(template: str, one: Series, chance: random.Random) -> tuple[str, bool, Evidence] | None:
    frame = one.frame
    name = chance.choice(sorted(frame[one.group].unique())) if one.group else ""
    rows = frame[frame[one.group] == name] if one.group else frame
    rows = rows[rows[one.measure] > 0].reset_index(drop=True)
    if len(rows) < 4:
        return None
    i = chance.randrange(1, len(rows))
    a, b = float(rows[one.measure][i - 1]), float(rows[one.measure][i])
    whole = a == int(a) and b == int(b)
    number = ("{:,.0f}" if whole or min(a, b) > 1e6 else "{:,.2f}").format
    percent = f"{abs(b - a) / a * 100:.1f}"
    if number(a) == number(b) or float(percent) < 0.1 or number(abs(b - a)).strip("0.,") == "":
        return None
    n = f"{one.measure} of {name}" if name else one.measure
    fields = {
        "n": n,
        "A": number(a),
        "B": number(b),
        "ya": rows[one.time][i - 1],
        "yb": rows[one.time][i],
        "p": percent,
    }
    text = template.format(**fields, d=number(abs(b - a)), t=one.time)
    shapes = [long_result(one)]
    if (
        one.group
        and frame.pivot(index=one.group, columns=one.time, values=one.measure)[
            [fields["ya"], fields["yb"]]
        ]
        .notna()
        .all()
        .all()
    ):
        shapes.append(wide_result(one))
    if not one.group and "{A}" not in template and "{d}" not in template and "{B}" not in template:
        shapes.append(change_result(one))
    return text, b > a, chance.choice(shapes)


def _said(text: str, up: bool) -> str:
    return re.sub(r"\[([^\]|]*)\|([^\]|]*)\]", lambda m: m[1] if up else m[2], text)

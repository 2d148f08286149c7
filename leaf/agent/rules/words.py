"""A question as words, and the closed lists of words that mean something by themselves, in English, German, French and Spanish.

What is on no list and names nothing in a table is not understood. Words that turn a figure into another one (not, without, only,
except, first, last, growth) are on no list, and must not be.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from typing import Any

_TOKEN = re.compile(
    r"""(?P<quoted>"[^"]+"|`[^`]+`|“[^”]+”|„[^“”]+[“”]|«[^»]+»|(?<!\w)'[^']+'(?!\w))
    |(?P<date>\d{4}-\d{2}(?:-\d{2})?(?![\d-]))
    |(?P<number>-?\d+(?:,\d{3})+(?:\.\d+)?(?!\w)|-?\d+(?:\.\d+)?(?!\w))
    |(?P<word>[^\W_]+)
    |(?P<sign><=|>=|!=|<>|==|=|<|>|[%,&+*/-])""",
    re.VERBOSE,
)
_CAMEL = re.compile(r"(?<=[a-zß-ÿ0-9])(?=[A-Z])")
_COMPOUND = re.compile(r"(gesamt|durchschnitts)(?=\w{4})")


@dataclass(frozen=True)
class Word:
    """One word, number, date, quotation or sign of a question."""

    text: str
    key: str
    """Small letters without accents."""
    kind: str
    """`word`, `number`, `date`, `quoted`, `column` (in backticks) or `sign`."""
    first: int
    end: int
    """Where it stands in the question."""


def split_words(text: str) -> list[Word]:
    """`Total unitPrice in "New York"` -> total · unit · price · in · New York."""
    words: list[Word] = []
    for found in _TOKEN.finditer(text):
        kind, piece, first = str(found.lastgroup), found.group(), found.start()
        if kind == "quoted":
            words.append(Word(piece[1:-1], fold(piece[1:-1]), "column" if piece[0] == "`" else kind, first, found.end()))
            continue
        for part in _COMPOUND.sub(r"\1 ", fold(piece)).split() if _COMPOUND.match(fold(piece)) else _CAMEL.split(piece):
            words.append(Word(part, fold(part), kind, first, found.end()))
    return words


def fold(text: str) -> str:
    """Small letters without accents, blanks made single: what counts as the same when people type."""
    flat = unicodedata.normalize("NFKD", text.lower())
    return " ".join("".join(c for c in flat if not unicodedata.combining(c)).split())


def forms(key: str) -> frozenset[str]:
    """A word, and what it may be the plural of."""
    found = {key}
    if len(key) > 3:
        found |= {key.removesuffix("s"), re.sub("ies$", "y", key)}
    if len(key) > 4:
        found |= {key.removesuffix(ending) for ending in ("es", "e", "n", "en")}
    return frozenset(found)


def same_word(a: str, b: str) -> bool:
    """Whether two words are forms of each other."""
    return a == b or bool(forms(a) & {b}) or bool(forms(b) & {a})


_MONTHS = (
    "january januar janvier enero", "february februar fevrier febrero", "march marz mars marzo", "april avril abril",
    "may mai mayo", "june juni juin junio", "july juli juillet julio", "august aout agosto",
    "september septembre septiembre", "october oktober octobre octubre", "november novembre noviembre",
    "december dezember decembre diciembre",
)  # fmt: skip
_LISTS: dict[tuple[str, Any], str] = {
    # the first word of a pair is the role, the second what it stands for; phrases are parted by commas
    ("figure", "sum"): "total, sum, sum total, summe, gesamt, gesamte, gesamter, gesamtes, gesamten, gesamtsumme, somme, totale, suma",
    ("figure", "avg"): "average, mean, avg, average value, mean value, durchschnitt, durchschnitts, durchschnittlich, durchschnittliche, "
    "durchschnittlicher, durchschnittliches, durchschnittlichen, mittelwert, mittlere, mittlerer, mittleren, moyenne, moyen, "
    "promedio, media, medio",
    ("figure", "median"): "median, mediane, mediana",
    ("figure", "stddev"): "standard deviation, stddev, standardabweichung, ecart type, desviacion estandar",
    ("figure", "max"): "maximum, max, highest, largest, greatest, biggest, hochste, hochster, hochstes, hochsten, grosste, grosster, "
    "grossten, maximale, maximaler, maximo, maxima, mayor, le plus eleve, la plus elevee, le plus grand, la plus grande, "
    "mas alto, mas alta",
    ("figure", "min"): "minimum, min, lowest, smallest, niedrigste, niedrigster, niedrigstes, niedrigsten, kleinste, kleinster, "
    "kleinsten, minimale, minimo, minima, menor, le plus bas, la plus basse, le plus petit, la plus petite, mas bajo, mas baja",
    ("most", "max"): "most, die meisten, am meisten, le plus de, mas",
    ("most", "min"): "fewest, least, die wenigsten, am wenigsten, le moins de, menos",
    ("top", "max"): "top",
    ("top", "min"): "bottom",
    ("count", ""): "how many, number of, count, count of, wie viele, anzahl, anzahl der, anzahl von, combien de, combien d, nombre de, "
    "nombre d, cuantos, cuantas, numero de",
    ("distinct", ""): "different, distinct, unique, verschiedene, verschiedenen, unterschiedliche, differents, differentes, distincts, "
    "distintos, distintas, diferentes",
    ("row", ""): "row, rows, record, records, entry, entries, zeile, zeilen, datensatze, eintrage, ligne, lignes, enregistrements, "
    "fila, filas, registros",
    ("by", "by"): "by, for each, for every, by each, in each, grouped by, broken down by, nach, fur jede, fur jeden, fur jedes, "
    "pour chaque, para cada",
    ("by", "per"): "per, pro, je, par, por, por cada",
    ("grain", "month"): "month, months, monthly, monat, monate, monatlich, monatliche, mois, mensuel, mes, mensual",
    ("grain", "year"): "year, years, yearly, annual, jahr, jahre, jahrlich, jahrliche, annee, annees, ano, anos, anual",
    ("grain", "quarter"): "quarter, quarters, quarterly, quartal, trimestre",
    ("grain", "week"): "week, weekly, woche, wochentlich, semaine, semana",
    ("grain", "day"): "day, daily, tag, taglich, jour, dia",
    ("trend", ""): "over time, trend of, im zeitverlauf, im verlauf, au fil du temps, a lo largo del tiempo",
    ("in", ""): "in, for, of, with, where, from, at, on, whose, that are, which are, im, am, mit, fur, bei, von, aus, vom, in der, en, "
    "dans, pour, de, du, des, avec, au, a, con, para, del, having",
    ("and", ""): "and, und, et, y, e",
    ("or", ""): "or, oder, ou, o",
    ("is", ""): "is, are, was, were, =, ==, equals, equal to, ist, sind, war, gleich, est, sont, es, son",
    ("than", ">"): ">, more than, greater than, higher than, larger than, above, over, exceeding, mehr als, grosser als, hoher als, "
    "uber, plus de, superieur a, superieure a, au dessus de, mas de, mayor que, superior a",
    ("than", "<"): "<, less than, fewer than, lower than, smaller than, below, under, weniger als, kleiner als, niedriger als, unter, "
    "moins de, inferieur a, inferieure a, au dessous de, menos de, menor que, inferior a",
    ("than", ">="): ">=, at least, greater than or equal to, mindestens, au moins, al menos",
    ("than", "<="): "<=, at most, less than or equal to, hochstens, au plus, como maximo",
    ("between", ""): "between, zwischen, entre",
    ("since", ">="): "since, seit, ab, depuis, desde",
    ("since", ">"): "after, nach, apres, despues de",
    ("since", "<"): "before, vor, avant, antes de",
    ("which", ""): "which, what, welche, welcher, welches, quel, quelle, quels, quelles, que, cual, cuales",
    ("share", ""): "share, share of, percentage, percentage of, percent of, proportion of, % of, anteil, prozentsatz, part de, "
    "pourcentage de, porcentaje de",
    ("correlation", ""): "correlation, correlation coefficient, pearson correlation, pearson correlation coefficient, korrelation, "
    "coefficient de correlation, correlacion",
    ("list", ""): "list, show, display, zeige, liste, montre, muestra",
    ("chart", ""): "chart, plot, draw, graph, bar chart of, draw a bar chart of, diagramm, graphique, grafico",
    ("chart", "line"): "line chart of, draw a line chart of, line chart",
    ("chart", "arc"): "pie chart of, draw a pie chart of, pie chart",
    ("gaps", ""): "missing values, empty cells, empty values, null values, nulls, gaps, fehlende werte, leere zellen, "
    "valeurs manquantes, cellules vides, valores faltantes, valores nulos, celdas vacias",
    ("describe", ""): "describe, description, summarise, summarize, summary, overview, schema, structure, columns, column names, "
    "the columns, oddities, what is in, what is inside, what s in, tell me about, beschreibe, uberblick, inhalt, was steht in, decris, "
    "resume, contenu, que contient, que hay en, resumen, contenido, main points of",
    ("stop", ""): "the, a, an, this, that, these, those, there, it, is, are, was, were, be, do, does, did, has, have, had, having, we, "
    "i, you, me, us, our, my, please, what, show, give, tell, calculate, compute, find, determine, get, how high, how large, how big, "
    "column, columns, field, value, values, data, dataset, file, table, sheet, in total, altogether, der, die, das, den, dem, des, "
    "ein, eine, einen, einer, es, gibt, ist, sind, war, waren, hat, haben, wir, zeige, gib, mir, bitte, was, wie hoch, wie gross, "
    "insgesamt, spalte, datei, tabelle, le, la, les, l, un, une, d, est, sont, il y a, y a t il, a, ont, quel, quelle, en tout, colonne, "
    "fichier, montre, moi, el, los, las, una, hay, tiene, tienen, cual, que, en total, columna, archivo, muestra, "
    "por favor, wieviel, come, out, s, welches",
    ("in the data", ""): "in the data, in the dataset, in the table, in the file, in this file, in this table, in this dataset, in here, "
    "of the data, of the dataset, in der datei, in der tabelle, in den daten, dans le fichier, dans la table, en el archivo, en la tabla, "
    "there are, are there, do we have, we have",
    **{("month", number): names.replace(" ", ", ") for number, names in enumerate(_MONTHS, 1)},
}  # fmt: skip
PHRASES: dict[tuple[str, ...], list[tuple[str, Any]]] = {}
"""Words of a phrase -> its roles, each with what it stands for."""
for (_role, _meaning), _phrases in _LISTS.items():
    for _phrase in _phrases.split(", "):
        PHRASES.setdefault(tuple(_phrase.split()), []).append(("stop" if _role == "in the data" else _role, _meaning))
LONGEST = max(map(len, PHRASES))
ADDED_UP = frozenset(
    "revenue sales sale amount quantity qty units cost costs expense expenses profit turnover votes umsatz betrag menge kosten "
    "gewinn stuck absatz montant quantite ventes couts importe cantidad ventas ingresos unidades costes".split()
)
"""Names of figures that are added up where a question does not say what to do with them."""
GENERIC = frozenset("id name number num no nr of code eur usd gbp chf kg km total amount the in".split())
"""Words of a column's name that people leave out."""
CHANGES = frozenset(
    "max min maximum minimum avg average mean median std pct percent percentage per rate ratio growth prev previous last first "
    "target expected planned budget forecast change diff delta difference not non no other lost unit running cum cumulative".split()
)
"""Words that make a name mean something else: `target price` is not the price."""

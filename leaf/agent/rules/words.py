"""A question as words, and the closed list of words that mean something by themselves, in English, German, French and Spanish.

What is not on the list and names nothing in a table is not understood. Words that turn a figure into another one (not, without,
only, except, first, last, growth, each) are not on it, and must not be.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass

_TOKEN = re.compile(
    r"""(?P<quoted>"[^"]+"|`[^`]+`|“[^”]+”|„[^“”]+[“”]|«[^»]+»|(?<!\w)'[^']+'(?!\w))
    |(?P<date>\d{4}-\d{2}(?:-\d{2})?(?![\d-]))
    |(?P<number>-?\d+(?:,\d{3})+(?:\.\d+)?(?!\w)|-?\d+(?:\.\d+)?(?!\w))
    |(?P<word>[^\W_]+)
    |(?P<sign><=|>=|!=|<>|==|=|<|>|[%,&+*/-])""",
    re.VERBOSE,
)
_CAMEL = re.compile(r"(?<=[a-zß-ÿ0-9])(?=[A-Z])|(?<=^gesamt)(?=\w{4})|(?<=^Gesamt)(?=\w{4})")


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


def split_words(text: str) -> list[Word]:
    """`Total unitPrice in "New York"` -> total · unit · price · in · New York."""
    words: list[Word] = []
    for found in _TOKEN.finditer(text):
        kind, piece, first, end = str(found.lastgroup), found.group(), found.start(), found.end()
        if kind == "quoted":
            words.append(Word(piece[1:-1], fold(piece[1:-1]), "column" if piece[0] == "`" else kind, first, end))
        else:
            words += [Word(part, fold(part), kind, first, end) for part in _CAMEL.split(piece)]
    return words


def fold(text: str) -> str:
    """Small letters without accents, blanks made single: what counts as the same when people type."""
    flat = unicodedata.normalize("NFKD", text.lower())
    return " ".join("".join(c for c in flat if not unicodedata.combining(c)).split())


def forms(key: str) -> frozenset[str]:
    """A word, and what it may be the plural of, or another ending of."""
    endings = ("s", "es", "e", "n", "en", "r") if len(key) > 4 else ("s",) if len(key) > 3 else ()
    return frozenset({key, *(key.removesuffix(ending) for ending in endings), re.sub("ies$", "y", key)})


def same_word(a: str, b: str) -> bool:
    """Whether two words are forms of each other."""
    return a == b or b in forms(a) or a in forms(b)


_LIST = """
f sum: total, sum, sum total, summe, gesamt, gesamte, gesamtsumme, somme, totale, suma
f avg: average, mean, avg, average value, mean value, durchschnitt, durchschnittlich, durchschnittliche, mittelwert, mittlere,
 moyenne, moyen, promedio, media, medio
f median: median, mediane, mediana
f stddev: standard deviation, stddev, standardabweichung, ecart type, desviacion estandar
f max: maximum, max, highest, largest, greatest, biggest, hochste, grosste, maximale, maximo, maxima, mayor, le plus eleve,
 la plus elevee, le plus grand, la plus grande, mas alto, mas alta
f min: minimum, min, lowest, smallest, niedrigste, kleinste, minimale, minimo, minima, menor, le plus bas, la plus basse,
 le plus petit, la plus petite, mas bajo, mas baja
m max: most, die meisten, am meisten, le plus de, mas
m min: fewest, least, die wenigsten, am wenigsten, le moins de, menos
t max: top
t min: bottom
c: how many, number of, count, count of, wie viele, anzahl, anzahl der, anzahl von, combien de, combien d, nombre de, nombre d,
 cuantos, cuantas, numero de
d: different, distinct, unique, verschiedene, unterschiedliche, differents, differentes, distincts, distintos, distintas
r: row, record, entry, entries, zeile, zeilen, datensatze, eintrage, ligne, enregistrements, fila, filas, registros
b by: by, for each, for every, by each, in each, grouped by, broken down by, nach, fur jede, fur jeden, fur jedes, pour chaque,
 para cada
b per: per, pro, je, par, por, por cada
g month: month, monthly, monat, monatlich, monatliche, mois, mensuel, mes, mensual
g year: year, yearly, annual, jahr, jahre, jahrlich, jahrliche, annee, ano, anos, anual
g quarter: quarter, quarterly, quartal, trimestre
g week: week, weekly, woche, wochentlich, semaine, semana
g day: day, daily, tag, taglich, jour, dia
o: over time, trend of, im zeitverlauf, im verlauf, au fil du temps, a lo largo del tiempo
i: in, for, of, with, where, from, at, on, whose, that are, which are, having, im, am, mit, fur, bei, von, aus, vom, in der, en,
 dans, pour, de, du, des, avec, au, a, con, para, del
a: and, und, et, y, e, ",", &
u: or, oder, ou, o
q: is, are, was, were, =, ==, equals, equal to, ist, sind, war, gleich, est, sont, es, son
h >: >, more than, greater than, higher than, larger than, above, over, exceeding, mehr als, grosser als, hoher als, uber,
 plus de, superieur a, superieure a, au dessus de, mas de, mayor que, superior a
h <: <, less than, fewer than, lower than, smaller than, below, under, weniger als, kleiner als, niedriger als, unter, moins de,
 inferieur a, inferieure a, au dessous de, menos de, menor que, inferior a
h >=: >=, at least, greater than or equal to, mindestens, au moins, al menos
h <=: <=, at most, less than or equal to, hochstens, au plus, como maximo
w: between, zwischen, entre
s >=: since, seit, ab, depuis, desde
s >: after, nach, apres, despues de
s <: before, vor, avant, antes de
k: which, what, welche, quel, quelle, quels, quelles, que, cual, cuales
p: share, percentage, percent, proportion, %, anteil, prozentsatz, part, pourcentage, porcentaje
z: correlation, correlation coefficient, pearson correlation, pearson correlation coefficient, korrelation, correlacion
l: list, show, display, zeige, liste, montre, muestra
j bar: chart, plot, draw, graph, bar chart of, draw a bar chart of, diagramm, graphique, grafico
j line: line chart of, draw a line chart of
j arc: pie chart of, draw a pie chart of
e: missing values, empty cells, empty values, null values, nulls, gaps, fehlende werte, leere zellen, valeurs manquantes,
 cellules vides, valores faltantes, valores nulos, celdas vacias
x: describe, description, summarise, summarize, summary, overview, schema, structure, columns, column names, oddities,
 what is in, what is inside, what s in, tell me about, main points of, beschreibe, uberblick, inhalt, was steht in, decris,
 resume, contenu, que contient, que hay en, resumen, contenido
_: the, a, an, this, that, these, those, there, it, is, are, was, were, be, do, does, did, has, have, had, we, i, you, me, us, our,
 my, please, what, show, give, tell, calculate, compute, find, determine, get, how high, how large, how big, column, field, value,
 values, data, dataset, file, table, sheet, in total, altogether, in the data, in the dataset, in the table, in the file,
 in this file, in this table, in this dataset, of the data, of the dataset, ",", s, out,
 der, die, das, den, dem, des, ein, eine, einen, einer, es, gibt, ist, sind, war, waren, hat, haben, wir, zeige, gib, mir, bitte,
 was, wie hoch, wie gross, insgesamt, spalte, datei, tabelle, in der datei, in der tabelle, in den daten,
 le, la, les, l, un, une, d, est, sont, il y a, y a t il, ont, quel, quelle, en tout, colonne, fichier, montre, moi,
 dans le fichier, dans la table, el, los, las, una, hay, tiene, tienen, cual, que, en total, columna, archivo, muestra, por favor,
 en el archivo, en la tabla
"""
"""A role, for some with what it stands for: its words and phrases. What the letters are: `grammar.Grammar`."""
PHRASES: dict[tuple[str, ...], list[tuple[str, str]]] = {}
"""Words of a phrase -> its roles, each with what it stands for."""
for _line in _LIST.replace("\n ", " ").strip().splitlines():
    _role, _, _meaning = _line.partition(": ")[0].partition(" ")
    for _phrase in _line.partition(": ")[2].replace('","', "COMMA").split(","):
        PHRASES.setdefault(tuple(_phrase.replace("COMMA", ",").split()), []).append((_role, _meaning))
MONTHS = """january januar janvier enero|february februar fevrier febrero|march marz mars marzo|april avril abril|may mai mayo
june juni juin junio|july juli juillet julio|august aout agosto|september septembre septiembre|october oktober octobre octubre
november novembre noviembre|december dezember decembre diciembre""".replace("\n", "|").split("|")
ADDED_UP = frozenset(
    """revenue sales sale amount quantity qty units cost costs expense expenses profit turnover votes umsatz betrag menge kosten
    gewinn stuck absatz montant quantite ventes couts importe cantidad ventas ingresos unidades costes""".split()  # noqa: SIM905
)
"""Names of figures that are added up where a question does not say what to do with them."""
GENERIC = frozenset(["id", "name", "number", "num", "no", "nr", "of", "code", "eur", "usd", "gbp", "kg", "km", "total", "amount"])
"""Words of a column's name that people leave out."""
CHANGES = frozenset(
    """max min maximum minimum avg average mean median std pct percent percentage per rate ratio growth prev previous last first
    target expected planned budget forecast change diff delta difference not non no other lost running cum cumulative""".split()  # noqa: SIM905
)
"""Words that make a name mean something else: the target price is not the price."""

"""Names of months and days as each language writes them, whole and short, for dates that somebody
else sets: Vega, on the axes of charts. English is what Vega speaks by itself."""

from __future__ import annotations

from dataclasses import dataclass

ENGLISH_DAYS = ("Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday")


@dataclass(frozen=True)
class DateNames:
    """As d3 wants them."""

    months: tuple[str, ...]
    """From January."""
    short_months: tuple[str, ...]
    days: tuple[str, ...]
    """From Sunday."""
    short_days: tuple[str, ...]
    date: str
    """A date in figures, as a pattern of strftime."""
    whole: str
    """A date with its time in words, as a pattern of strftime."""


def _names(months: str, short: str, days: str, short_days: str, date: str, whole: str) -> DateNames:
    return DateNames(
        tuple(months.split()),
        tuple(short.split()),
        tuple(days.split()),
        tuple(short_days.split()),
        date,
        whole,
    )


DATES = {
    "de": _names(
        "Januar Februar März April Mai Juni Juli August September Oktober November Dezember",
        "Jan Feb März Apr Mai Juni Juli Aug Sept Okt Nov Dez",
        "Sonntag Montag Dienstag Mittwoch Donnerstag Freitag Samstag",
        "So Mo Di Mi Do Fr Sa",
        "%d.%m.%Y",
        "%A, %-d. %B %Y, %H:%M",
    ),
    "fr": _names(
        "janvier février mars avril mai juin juillet août septembre octobre novembre décembre",
        "janv. févr. mars avr. mai juin juil. août sept. oct. nov. déc.",
        "dimanche lundi mardi mercredi jeudi vendredi samedi",
        "dim. lun. mar. mer. jeu. ven. sam.",
        "%d/%m/%Y",
        "%A %-d %B %Y à %H:%M",
    ),
    "es": _names(
        "enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre",
        "ene feb mar abr may jun jul ago sept oct nov dic",
        "domingo lunes martes miércoles jueves viernes sábado",
        "dom lun mar mié jue vie sáb",
        "%d/%m/%Y",
        "%A, %-d de %B de %Y, %H:%M",
    ),
}


def weekdays(language: str) -> tuple[str, ...]:
    """Their names from Monday, capital as at the head of a line."""
    days = DATES[language].days if language in DATES else ENGLISH_DAYS
    return tuple(day.capitalize() for day in (*days[1:], days[0]))

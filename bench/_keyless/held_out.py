"""Held out: written after the grammar, over tables that none of its questions use. What it showed
was mended by its cause.

Half can be answered by a table's columns, half are traps: negations, ratios, correlations, names
that are nearly a column, figures of what is only numbered, two tables in one chat. The form is that
of questions.py.
"""

from __future__ import annotations

import pandas as pd

from bench._keyless.questions import Frames, Question


def _a(f: Frames) -> pd.DataFrame:
    return f["arrest_expungibility"]


def _v(f: Frames) -> pd.DataFrame:
    return f["election2016"]


def _w(f: Frames) -> pd.DataFrame:
    return f["weather_train"].assign(t=pd.to_datetime(f["weather_train"].time))


def _b(f: Frames) -> pd.DataFrame:
    return f["YAHOO-BTC_USD_D"].assign(t=pd.to_datetime(f["YAHOO-BTC_USD_D"].Date))


def _n(f: Frames) -> pd.DataFrame:
    return f["fb_articles_20180822_20180829_df"]


ANSWERABLE: list[Question] = [
    ("arrest_expungibility", "total count by category", lambda f: _a(f).groupby("Category").Count.sum()),
    ("arrest_expungibility", "How many rows are felony?", lambda f: (_a(f).Offense_Type == "felony").sum()),
    ("arrest_expungibility", "average age for Simple Assault",
     lambda f: _a(f)[_a(f).Offense == "Simple Assault"].Age.mean()),
    ("arrest_expungibility", "number of different offenses", lambda f: _a(f).Offense.nunique()),
    ("arrest_expungibility", "Wie viele Zeilen gibt es pro Category?", lambda f: _a(f).groupby("Category").size()),
    ("arrest_expungibility", "top 4 offenses by total count", lambda f: _a(f).groupby("Offense").Count.sum().nlargest(4)),
    ("arrest_expungibility", "What percentage of rows are misdemeanor?",
     lambda f: 100 * (_a(f).Offense_Type == "misdemeanor").mean()),
    ("arrest_expungibility", "median Age where Count > 10", lambda f: _a(f).query("Count > 10").Age.median()),
    ("election2016", "total votes_dem by state_abbr", lambda f: _v(f).groupby("state_abbr").votes_dem.sum()),
    ("election2016", "sum of votes_gop in TX", lambda f: _v(f).query("state_abbr == 'TX'").votes_gop.sum()),
    ("election2016", "Quel est le nombre de lignes ?", lambda f: len(_v(f))),
    ("election2016", "which state_abbr has the most rows?", lambda f: _v(f).groupby("state_abbr").size().nlargest(1)),
    ("election2016", "average per_gop by state abbr", lambda f: _v(f).groupby("state_abbr").per_gop.mean()),
    ("election2016", "suma de total_votes por state_abbr", lambda f: _v(f).groupby("state_abbr").total_votes.sum()),
    ("weather_train", "average temperature by wind direction", lambda f: _w(f).groupby("wind direction").temperature.mean()),
    ("weather_train", "maximum wind speed", lambda f: _w(f)["wind speed"].max()),
    ("weather_train", "¿Cuál es el promedio de humidity?", lambda f: _w(f).humidity.mean()),
    ("weather_train", "moyenne de temperature par mois",
     lambda f: _w(f).groupby(_w(f).t.dt.strftime("%Y-%m")).temperature.mean()),
    ("weather_train", "how many rows have temperature below 0", lambda f: (_w(f).temperature < 0).sum()),
    ("weather_train", "niedrigste temperature", lambda f: _w(f).temperature.min()),
    ("YAHOO-BTC_USD_D", "highest High in 2017", lambda f: _b(f)[_b(f).t.dt.year == 2017].High.max()),
    ("YAHOO-BTC_USD_D", "average volume by year", lambda f: _b(f).groupby(_b(f).t.dt.year).Volume.mean()),
    ("YAHOO-BTC_USD_D", "durchschnittliches Close seit 2019", lambda f: _b(f)[_b(f).t.dt.year >= 2019].Close.mean()),
    ("YAHOO-BTC_USD_D", "promedio de Open en 2016", lambda f: _b(f)[_b(f).t.dt.year == 2016].Open.mean()),
    ("YAHOO-BTC_USD_D", "lowest Low before 2018", lambda f: _b(f)[_b(f).t.dt.year < 2018].Low.min()),
    ("fb_articles_20180822_20180829_df", "How many articles are there by source?", lambda f: _n(f).groupby("source").size()),
    ("fb_articles_20180822_20180829_df", "average compound per source", lambda f: _n(f).groupby("source").compound.mean()),
    ("baseball_data", "mean and median of number_of_home_runs",
     lambda f: (f["baseball_data"].number_of_home_runs.mean(), f["baseball_data"].number_of_home_runs.median())),
    ("baseball_data", "moyenne de batting_average", lambda f: f["baseball_data"].batting_average.mean()),
]  # fmt: skip

TRAPS: list[Question] = [
    ("arrest_expungibility", "How many arrests were there?", None),
    ("arrest_expungibility", "total Age", None),
    ("arrest_expungibility", "How many arrests are not expungible?", None),
    ("arrest_expungibility", "how many offenses per year on average", None),
    ("arrest_expungibility", "total Count of assaults", None),
    ("arrest_expungibility", "How many adults under 25 were arrested?", None),
    ("arrest_expungibility", "average count in the 2000s", None),
    ("arrest_expungibility", "Count für Group B Offenses ohne felony",
     lambda f: _a(f)[(_a(f).Category == "Group B Offenses") & (_a(f).Offense_Type != "felony")].Count.sum()),
    ("arrest_expungibility", "part des felony parmi les expungible", None),
    ("arrest_expungibility", "most frequent offense in each category", None),
    ("arrest_expungibility", "change of Count between 2005 and 2006", None),
    ("election2016", "Who won in Texas?", None),
    ("election2016", "total votes", lambda f: _v(f).total_votes.sum()),
    ("election2016", "average percent for the democrats by state", None),
    ("election2016", "how many counties did the gop win", lambda f: (_v(f).votes_gop > _v(f).votes_dem).sum()),
    ("election2016", "sum of combined_fips", None),
    ("election2016", "total per_dem by state_abbr", None),
    ("election2016", "total diff by state_abbr",
     lambda f: _v(f)["diff"].str.replace(",", "").astype(float).groupby(_v(f).state_abbr).sum()),
    ("election2016", "votes_dem sin contar TX", lambda f: _v(f).query("state_abbr != 'TX'").votes_dem.sum()),
    ("weather_train", "correlation between humidity and visibility", lambda f: _w(f).humidity.corr(_w(f).visibility)),
    ("weather_train", "how many days were colder than 0", None),
    ("weather_train", "hottest hour of the day", None),
    ("weather_train", "total wind speed", lambda f: _w(f)["wind speed"].sum()),
    ("weather_train", "average temperature at night", None),
    ("weather_train", "température moyenne ressentie", None),
    ("weather_train", "Wie oft war es wärmer als 20 Grad?", None),
    ("YAHOO-BTC_USD_D", "total Close by year", lambda f: _b(f).groupby(_b(f).t.dt.year).Close.sum()),
    ("YAHOO-BTC_USD_D", "best day of 2017", None),
    ("YAHOO-BTC_USD_D", "by how many percent did Close change since 2019", None),
    ("baseball_data", "how many players are free agents", None),
    ("weather_train+YAHOO-BTC_USD_D", "average by month", None),
]  # fmt: skip

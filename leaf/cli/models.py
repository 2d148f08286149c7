"""`models list` and `models test`: what answers the local user. A connection is made on the settings
page, or by the environment."""

from __future__ import annotations

import argparse

from leaf.cli.common import FAILED, OK, opened, print_json


def add(parser: argparse.ArgumentParser) -> None:
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    listing = commands.add_parser("list", help="the models that can be chosen, the default first")
    listing.add_argument("--json", action="store_true")
    listing.set_defaults(command=_models_list)
    test = commands.add_parser("test", help="ask a model for one word")
    test.add_argument("model", metavar="MODEL", nargs="?", default="", help="(the default)")
    test.add_argument("--json", action="store_true")
    test.set_defaults(command=_models_test)


def _models_list(args: argparse.Namespace) -> int:
    with opened() as leaf:
        models = leaf.session(leaf.local_scope()).models
        choices = models.list()
        connection = models.connection()
    if args.json:
        print_json(choices, indent=2)
        return OK
    print(connection.words)
    for model in choices if connection.source != "none" else ():
        print(f"{model.id}  {model.name}" if model.name != model.id else model.id)
    return OK


def _models_test(args: argparse.Namespace) -> int:
    with opened() as leaf:
        models = leaf.session(leaf.local_scope()).models
        connection = models.connection()
        if connection.source == "none":
            words = connection.words
            print_json({"type": "error", "errorText": words}) if args.json else print(words)
            return FAILED
        trial = models.try_used(args.model)
    if args.json:
        print_json(trial, indent=2)
        return OK
    print(connection.words)
    print(f"{trial.model} answered {trial.duration}.")
    return OK

#!/usr/bin/env python3
"""Every published inputSchema and outputSchema is valid JSON Schema 2020-12, refers only to itself, and compiles.

Python's `jsonschema` checks against the metaschema and resolves every reference; Ajv compiles. Our own validator, the
`jsonschema` crate, is the third: `tests/openapi/corpus.rs`.
"""

import json
import os
import re
import subprocess
import sys
from collections import defaultdict

from corpus import CORPUS, HERE, Server, Tally, explained, manifest, served
from jsonschema import Draft202012Validator
from jsonschema_rs import validator_for

LEGAL = re.compile(r"^[A-Za-z0-9_-]{1,64}$")
MAPS = {"properties", "patternProperties", "dependentSchemas", "$defs"}
LISTS = {"allOf", "anyOf", "oneOf", "prefixItems"}
ONE = {"items", "additionalProperties", "not", "if", "then", "else", "contains", "propertyNames", "unevaluatedProperties", "unevaluatedItems", "contentSchema"}
META = validator_for(Draft202012Validator.META_SCHEMA)


def references(schema):
    """Every `$ref` and `$dynamicRef`, by keyword position, so that a property of that name is none."""
    open_ = [schema]
    while open_:
        node = open_.pop()
        if not isinstance(node, dict):
            continue
        for key, value in node.items():
            if key in ("$ref", "$dynamicRef"):
                yield value
            elif key in ONE:
                open_.append(value)
            elif key in LISTS and isinstance(value, list):
                open_ += value
            elif key in MAPS and isinstance(value, dict):
                open_ += value.values()


def leads(schema, reference):
    """True if a local JSON pointer leads to something."""
    if reference == "#":
        return True
    if not reference.startswith("#/"):
        return False
    node = schema
    for token in reference[2:].split("/"):
        token = re.sub(r"%([0-9A-Fa-f]{2})", lambda it: chr(int(it[1], 16)), token).replace("~1", "/").replace("~0", "~")
        if isinstance(node, list):
            node = node[int(token)] if token.isdigit() and int(token) < len(node) else None
        else:
            node = node.get(token) if isinstance(node, dict) else None
        if node is None:
            return False
    return True


def published(row):
    """The tools that one document publishes."""
    with served(row) as file:
        server = Server(file, "http://127.0.0.1:9")
        try:
            return server.tools() if server.usable else None
        finally:
            server.close()


def main():
    tally, counts = Tally(), defaultdict(lambda: defaultdict(int))
    node = subprocess.Popen(["node", str(HERE / "compile.mjs")], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=dict(os.environ))
    seen = set()
    skipped = [file for file, what in explained("documents") if " /" in what]
    for row in manifest():
        if row["kind"] == "malformed":
            continue
        file, kind = row["file"], counts[row["kind"]]
        tools = published(row)
        if tools is None:
            # With no operation left there is nothing to serve.
            tally.check(int(row["operations"] or 0) <= skipped.count(file), f"{file}: is not served")
            continue
        names = [tool["name"] for tool in tools]
        tally.check(len(set(names)) == len(names) and all(map(LEGAL.match, names)), f"{file}: names repeat or are illegal")
        for tool in tools:
            kind["tools"] += 1
            for which in ("inputSchema", "outputSchema"):
                schema = tool.get(which)
                if schema is None:
                    continue
                kind[which] += 1
                where = f"{file} {tool['name']} {which}"
                error = next(META.iter_errors(schema), None)
                good = error is None
                tally.check(good, f"{where}: {error}"[:400])
                tally.check(schema.get("type") == "object", f"{where}: the root is no object")
                for reference in set(references(schema)):
                    if not leads(schema, reference):
                        tally.check(False, f"{where}: `{reference}` leads nowhere")
                line = json.dumps({"name": where, "schema": schema})
                key = hash(line.split('"schema"', 1)[1])
                if key not in seen:
                    seen.add(key)
                    node.stdin.write(line.encode() + b"\n")
    node.stdin.close()
    for line in node.stdout:
        answer = json.loads(line)
        if "error" in answer:
            tally.check(False, f"{answer['name']}: Ajv: {answer['error']}")
        else:
            compiled = answer["compiled"]
            tally.check(compiled == len(seen), f"Ajv saw {compiled} of {len(seen)} schemas")
    node.wait()
    print("| kind | tools | input schemas | output schemas |")
    print("| --- | --- | --- | --- |")
    for name, kind in sorted(counts.items()):
        print(f"| {name} | {kind['tools']} | {kind['inputSchema']} | {kind['outputSchema']} |")
    print(f"{len(seen)} different schemas compiled by Ajv")
    print(f"schemas: {tally.passed} passed, {tally.failed} failed")
    return 1 if tally.failed else 0


if __name__ == "__main__":
    sys.exit(main())

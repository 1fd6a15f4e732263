#!/usr/bin/env python3
"""Requests judged by tools that nobody here wrote.

For each operation, json-schema-faker (with `--hypothesis`, for some, hypothesis-jsonschema) makes arguments from the published inputSchema;
they go through MCP; the request that reaches the wire is kept and passed on to Prism in mock mode with errors on, which
judges it; openapi-core judges the kept request. The mock's answer must come back with structuredContent that fits the
published outputSchema.

What comes of each operation is kept in a folder, a file a document, a line an operation: a run that was stopped goes on
where it was, and `--report` shows what is there. Rows of `explained.tsv` are applied when the report is made.

    oracle.py [--full] [--kept FOLDER] [--report] [--again] [--jobs N] [--documents N] [--per-document N] [--kind KIND] [--file PART] [--verbose]
"""

import argparse
import hashlib
import json
import multiprocessing
import os
import sys
import tempfile
import time
from pathlib import Path

from corpus import explained, manifest
from report import Report

# Operations of a document that one process judges in a go.
PART = 600


def arguments_of():
    parser = argparse.ArgumentParser()
    parser.add_argument("--full", action="store_true", help="every operation of every document")
    parser.add_argument("--kept", default="", help="the folder of the records (default: a new one that is removed)")
    parser.add_argument("--report", action="store_true", help="judge nothing; report what is in the folder")
    parser.add_argument("--again", action="store_true", help="judge those operations again that the folder has as bad, not sent or with a bad answer")
    parser.add_argument("--jobs", type=int, default=2, help="processes, each with a server and judges of its own")
    parser.add_argument("--documents", type=int, default=120, help="documents of the sample: the same ones in every run")
    parser.add_argument("--per-document", type=int, default=0, help="operations of a document (default: 10; with --full all)")
    parser.add_argument("--kind", default="")
    parser.add_argument("--file", default="")
    parser.add_argument("--hypothesis", type=int, default=0, help="one operation in this many, and those that the faker fills in nothing for, get arguments from hypothesis-jsonschema; what it makes depends on its time (default: none)")
    parser.add_argument("--verbose", action="store_true")
    return parser.parse_args()


def records(folder, file):
    """The file of a document's records."""
    return Path(folder) / (file.replace("/", "__") + ".jsonl")


def read(path):
    """The records of one document, by operation; a line that a stop cut off is none."""
    found = {}
    if path.exists():
        for line in path.read_text(encoding="utf-8").splitlines():
            try:
                record = json.loads(line)
                found[record["name"]] = record
            except ValueError:
                pass
    return found


BENCH = None


def judge(task):
    """One document, in a process of the pool."""
    from document import Bench

    global BENCH
    row, options, known, part = task
    BENCH = BENCH or Bench(options.hypothesis)
    started = time.monotonic()
    most = options.per_document or (0 if options.full else 10)
    count = 0
    with open(records(options.kept, row["file"]), "ab", buffering=0) as out:

        def keep(record):
            nonlocal count
            count += 1
            # One write: several processes may have parts of the document.
            out.write(json.dumps(record, ensure_ascii=False).encode() + b"\n")

        try:
            BENCH.document(row, most, part, known, keep)
        except Exception as error:  # noqa: BLE001 - one document's trouble is not the others'
            return row["file"], count, time.monotonic() - started, f"{type(error).__name__}: {error}"
    return row["file"], count, time.monotonic() - started, ""


def chosen(options):
    rows = [row for row in manifest() if row["kind"] != "malformed" and options.kind in row["kind"] and options.file in row["file"]]
    if options.full:
        return sorted(rows, key=lambda row: int(row["total_bytes"] or 0))
    rows.sort(key=lambda row: hashlib.sha256(row["file"].encode()).digest())
    rows = [row for row in rows if int(row["total_bytes"] or 0) < 2_000_000] or rows
    return rows[: options.documents]


def main():
    options = arguments_of()
    temporary = None if options.kept else tempfile.TemporaryDirectory()
    options.kept = options.kept or temporary.name
    os.makedirs(options.kept, exist_ok=True)
    rows = chosen(options)
    report = Report(explained("oracle"))
    if not options.report:
        tasks = []
        for row in rows:
            path = records(options.kept, row["file"])
            known = read(path)
            if options.again:
                known = {name: record for name, record in known.items() if not report.wrong(row["file"], record)}
                path.write_text("".join(json.dumps(it, ensure_ascii=False) + "\n" for it in known.values()), encoding="utf-8")
            parts = 1 + (int(row["operations"] or 0) // PART if options.full else 0)
            tasks += [(row, options, set(known), (part, parts)) for part in range(parts)]
        with multiprocessing.Pool(options.jobs) as pool:
            for file, count, seconds, trouble in pool.imap_unordered(judge, tasks, chunksize=1):
                if trouble:
                    report.tally.check(False, f"{file}: {trouble}")
                if options.verbose:
                    print(f"{file}: {count} operations, {seconds:.1f} s", flush=True)
    for row in rows:
        report.document(row, read(records(options.kept, row["file"])))
    return report.show(options.verbose)


if __name__ == "__main__":
    sys.exit(main())

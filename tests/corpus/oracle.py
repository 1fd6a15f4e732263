#!/usr/bin/env python3
"""Requests judged by tools that nobody here wrote.

For each operation, json-schema-faker (for some, hypothesis-jsonschema) makes arguments from the published inputSchema;
they go through MCP; the request that reaches the wire is kept and passed on to Prism in mock mode with errors on, which
judges it; openapi-core judges the kept request. The mock's answer must come back with structuredContent that fits the
published outputSchema.

    oracle.py [--full] [--seconds N] [--documents N] [--kind KIND] [--file PART] [--per-document N] [--shard I/N] [--verbose]
"""

import argparse
import hashlib
import json
import re
import sys
import time
import warnings
from collections import Counter, defaultdict

from corpus import CORPUS, Server, Tally, credentials, explained, manifest, served
from generate import Generator
from judges import Core, Prism, Recorder
from jsonschema_rs import ValidationError, validator_for

CANDIDATES = 8


def arguments_of():
    parser = argparse.ArgumentParser()
    parser.add_argument("--full", action="store_true", help="every operation of every document, no time limit")
    parser.add_argument("--seconds", type=float, default=600, help="an end for a run that hangs; not what bounds the sample")
    parser.add_argument("--documents", type=int, default=36, help="documents of the sample: the same ones in every run")
    parser.add_argument("--kind", default="")
    parser.add_argument("--file", default="")
    parser.add_argument("--per-document", type=int, default=0)
    parser.add_argument("--shard", default="0/1")
    parser.add_argument("--hypothesis", type=int, default=25, help="one operation in this many gets its arguments from hypothesis-jsonschema")
    parser.add_argument("--verbose", action="store_true")
    return parser.parse_args()


class Run:
    """Counts of one run."""

    def __init__(self, options):
        self.options = options
        self.tally = Tally()
        self.known = explained("oracle")
        self.kinds = defaultdict(Counter)
        self.used = Counter()
        self.unsent = Counter()
        self.unjudged = Counter()
        self.generator = Generator()
        self.prism = Prism()
        self.recorder = Recorder()
        self.deadline = time.monotonic() + (10**9 if options.full else options.seconds)

    def excused(self, file, operation, text):
        """True if a row of `explained.tsv` names this file (or `*`), this operation (or `*`) and a part of the text."""
        for (name, what), (part, _) in self.known.items():
            if name in ("*", file) and what.split(" #")[0] in ("*", operation) and re.search(part, text):
                self.used[name, what, part] += 1
                return True
        return False

    def document(self, row):
        file, kind = row["file"], self.kinds[row["kind"]]
        with served(row) as path:
            server = Server(path, self.recorder.url, credentials(path))
            try:
                if not server.usable:
                    return
                tools = self.sample(server.tools())
                if not tools:
                    return
                port = self.prism.open(CORPUS / file)
                self.recorder.to(port)
                core = Core(CORPUS / file, self.recorder.url)
                kind["documents"] += 1
                kind["no prism"] += port is None
                kind["no openapi-core"] += core.api is None
                for tool in tools:
                    if time.monotonic() > self.deadline:
                        return
                    self.operation(file, kind, server, tool, core)
            finally:
                server.close()

    def sample(self, tools):
        """All tools, or those that come first in an order that differs from the document's but not between runs."""
        most = self.options.per_document or (0 if self.options.full else 6)
        if most and len(tools) > most:
            tools = sorted(tools, key=lambda tool: hashlib.sha256(tool["name"].encode()).digest())[:most]
        return tools

    def operation(self, file, kind, server, tool, core):
        name = tool["name"]
        seed = int.from_bytes(hashlib.sha256(f"{file} {name}".encode()).digest()[:4], "big") >> 1
        kind["operations"] += 1
        sent, refusal, judged = 0, "", Counter()
        try:
            outputs = validator_for(tool["outputSchema"]) if "outputSchema" in tool else None
        except (ValueError, ValidationError) as error:
            outputs = None
            self.tally.check(False, f"{file} {name}: outputSchema: {error}"[:300])
        hypothesis = self.options.hypothesis and seed % self.options.hypothesis == 0
        for values in self.generator.values(tool["inputSchema"], seed, CANDIDATES, hypothesis):
            self.recorder.clear()
            answer = server.ask("tools/call", {"name": name, "arguments": values})
            if answer is None:
                self.tally.check(False, f"{file} {name}: the server is gone after {json.dumps(values)[:300]}")
                raise SystemExit(1)
            result = answer.get("result")
            if result is None:
                refusal = str(answer.get("error", {}).get("message"))
                continue
            text = " ".join(block.get("text", "") for block in result.get("content", []))
            if not self.recorder.requests:
                refusal = text
                continue
            sent += 1
            request = self.recorder.requests[-1]
            verdict, why = self.prism.verdict(request)
            core_verdict, core_why = core.verdict(request)
            for oracle, one, reason in (("prism", verdict, why), ("openapi-core", core_verdict, core_why)):
                if one == "bad" and self.excused(file, name, f"{oracle}: {reason}"):
                    one = "excused"
                judged[oracle, one] += 1
                if one == "unjudged":
                    self.unjudged[f"{oracle}: {reason[:60]}"] += 1
                if one == "bad":
                    self.tally.failed += 1
                    print(f"FAIL {file} {name}: {oracle}: {reason[:400]}\n     {request.method} {request.target[:300]} {request.headers.get('content-type', '')} {request.body[:200]!r}\n     {json.dumps(values)[:300]}", flush=True)
                elif one == "good":
                    self.tally.passed += 1
            self.answer(file, kind, tool, request, result, text, outputs)
            if sent >= 2:
                break
        if not sent:
            kind["not sent"] += 1
            if not self.excused(file, name, f"not sent: {refusal}"):
                self.unsent[refusal[:90]] += 1
                if self.options.verbose:
                    print(f"not sent: {file} {name}: {refusal[:300]}", flush=True)
            return
        kind["sent"] += 1
        for oracle in ("prism", "openapi-core"):
            outcomes = {one for (which, one) in judged if which == oracle}
            best = "bad" if "bad" in outcomes else "excused" if "excused" in outcomes else "good" if "good" in outcomes else "unjudged"
            kind[f"{oracle} {best}"] += 1
        every = {one for _, one in judged}
        kind["bad" if "bad" in every else "excused" if "excused" in every else "good" if "good" in every else "unjudged"] += 1

    def answer(self, file, kind, tool, request, result, text, outputs):
        """The mock's answer as MCP content."""
        where = f"{file} {tool['name']}"
        if request.status is None or not 200 <= request.status < 300:
            return
        kind["answers"] += 1
        good = not result.get("isError")
        if not good and self.excused(file, tool["name"], f"answer: {text}"):
            kind["answers excused"] += 1
            return
        self.tally.check(good, f"{where}: the answer {request.status} is an error: {text[:200]}")
        if outputs is None:
            return
        kind["structured"] += 1
        if "structuredContent" not in result:
            good = self.tally.check(request.status in (204, 205) or self.excused(file, tool["name"], "answer: no structuredContent"), f"{where}: no structuredContent with {request.status}: {text[:200]}")
        else:
            error = next(outputs.iter_errors(result["structuredContent"]), None)
            good = self.tally.check(error is None, f"{where}: structuredContent: {error}"[:400])
        kind["structured good"] += bool(good)

    def report(self):
        columns = ["documents", "operations", "sent", "not sent", "good", "excused", "bad", "unjudged", "prism good", "prism excused", "prism bad", "prism unjudged", "openapi-core good", "openapi-core excused", "openapi-core bad", "openapi-core unjudged", "answers", "structured", "structured good", "answers excused"]
        total = Counter()
        for kind in self.kinds.values():
            total.update(kind)
        print("| | " + " | ".join([*sorted(self.kinds), "all"]) + " |")
        print("|" + " --- |" * (len(self.kinds) + 2))
        for column in columns:
            print(f"| {column} | " + " | ".join(str(kind[column]) for kind in [*(self.kinds[name] for name in sorted(self.kinds)), total]) + " |")
        print("not sent, by reason: " + json.dumps(self.unsent.most_common(12), ensure_ascii=False))
        print("unjudged, by reason: " + json.dumps(self.unjudged.most_common(12), ensure_ascii=False))
        print("explained: " + json.dumps([[*key, count] for key, count in self.used.most_common()], ensure_ascii=False))
        print(f"generated by: {dict(self.generator.made)}")
        judged = total["good"] + total["excused"] + total["bad"]
        share = total["good"] / max(total["good"] + total["bad"], 1)
        print(f"{total['good']} of {total['good'] + total['bad']} judged operations are as declared ({share:.2%}); {total['excused']} explained, {total['unjudged']} that no oracle can judge, {judged} judged in all")
        answers = total["structured good"] / max(total["structured"], 1)
        print(f"{total['structured good']} of {total['structured']} structured answers fit their outputSchema ({answers:.2%})")
        print(f"oracle: {self.tally.passed} passed, {self.tally.failed} failed")
        return 0 if share >= 0.99 and answers == 1 and total["good"] else 1


def main():
    warnings.simplefilter("ignore")
    options = arguments_of()
    run = Run(options)
    index, shards = map(int, options.shard.split("/"))
    rows = [row for row in manifest() if row["kind"] != "malformed" and options.kind in row["kind"] and options.file in row["file"]]
    rows = rows[index::shards]
    if not options.full:
        rows.sort(key=lambda row: hashlib.sha256(row["file"].encode()).digest())
        rows = [row for row in rows if int(row["total_bytes"] or 0) < 2_000_000] or rows
    for row in rows:
        judged = sum(kind["documents"] for kind in run.kinds.values())
        if time.monotonic() > run.deadline or not options.full and judged >= options.documents:
            break
        started = time.monotonic()
        run.document(row)
        if options.verbose:
            print(f"{row['file']}: {time.monotonic() - started:.1f} s", flush=True)
    return run.report()


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""Every document of the corpus loads within bounds or gets a true diagnosis; operations become tools or are skipped for a reason."""

import json
import sys
from collections import defaultdict

from corpus import Tally, explained, manifest, run, served

SHARE = 0.995


def document(row, known, tally, totals):
    """One document: exit code, diagnoses, counts."""
    file, malformed = row["file"], row["kind"] == "malformed"
    usage = {}
    with served(row) as path:
        code, out, err = run("check", str(path), "--json", "--base-url", "http://127.0.0.1:9", usage=usage)
    for what, value in usage.items():
        totals[what] = max(totals[what], (value, file))
    bounded = code in (0, 1, 2) and "panicked" not in err
    if not tally.check(bounded, f"{file}: ends with {code}: {err.strip()[-300:]}"):
        return
    try:
        report = json.loads(out)
    except ValueError:
        tally.check(False, f"{file}: no JSON on stdout: {out[:200]!r}")
        return
    diagnostics = report["diagnostics"]
    errors = [it for it in diagnostics if it["severity"] == "error"]
    tools, skipped = report["tools"], report["skipped"]
    totals["documents"] += 1
    totals["warnings"] += report["warnings"]
    totals["errors"] += report["errors"]
    if malformed or code == 2:
        placed = [it for it in errors if it.get("file") and it.get("message")]
        tally.check(bool(placed), f"{file}: refused without a place and a reason: {diagnostics[:2]}")
        totals["refused"] += 1
    if malformed:
        value, _ = known.get((file, "diagnosis"), ("", ""))
        tally.check(value and any(value in it["message"] for it in errors), f"{file}: the diagnosis is not {value!r}: {[it['message'] for it in errors]}")
        return
    expected = int(row["operations"] or 0)
    value, _ = known.get((file, "operations"), (str(expected), ""))
    tally.check(tools + len(skipped) == int(value), f"{file}: {tools} tools and {len(skipped)} skipped, {expected} operations in the manifest, {value} expected")
    totals["operations"] += tools + len(skipped)
    totals["tools"] += tools
    for it in skipped:
        totals["skipped"] += 1
        reason, _ = known.get((file, it["operation"]), ("", ""))
        tally.check(bool(reason) and reason == it["code"], f"{file}: {it['operation']} is no tool: {it['reason']} [{it['code']}]")


def main():
    tally, known = Tally(), explained("documents")
    kinds = defaultdict(lambda: defaultdict(int, seconds=(0, ""), megabytes=(0, "")))
    for row in manifest():
        document(row, known, tally, kinds[row["kind"]])
    keys, most = ["documents", "refused", "operations", "tools", "skipped", "errors", "warnings"], ["seconds", "megabytes"]
    print("| kind | " + " | ".join(keys) + " | most seconds | most MB |")
    print("|" + " --- |" * (len(keys) + 3))
    total = {key: sum(kind[key] for kind in kinds.values()) for key in keys}
    total |= {key: max(kind[key] for kind in kinds.values()) for key in most}
    for name, kind in [*sorted(kinds.items()), ("all", total)]:
        print(f"| {name} | " + " | ".join(str(kind[key]) for key in keys) + f" | {kind['seconds'][0]:.2f} | {kind['megabytes'][0]:.0f} |")
    for key in most:
        print(f"most {key}: {total[key][0]:.2f} for {total[key][1]}")
    share = total["tools"] / max(total["operations"], 1)
    tally.check(share >= SHARE, f"only {share:.4%} of the operations are tools")
    print(f"{total['tools']} of {total['operations']} operations are tools ({share:.3%})")
    print(f"documents: {tally.passed} passed, {tally.failed} failed")
    return 1 if tally.failed else 0


if __name__ == "__main__":
    sys.exit(main())

"""What the records of the judged operations come to."""

import json
import re
from collections import Counter, defaultdict

from corpus import Tally

ORACLES = ("prism", "openapi-core")
COLUMNS = [
    "documents", "operations", "sent", "not sent", "good", "excused", "bad", "unjudged",
    *(f"{oracle} {outcome}" for oracle in ORACLES for outcome in ("good", "excused", "bad", "unjudged")),
    "answers", "structured", "structured good", "structured made", "answers excused", "no prism", "lean prism", "no openapi-core",
]  # fmt: skip


class Report:
    """Counts of one run."""

    def __init__(self, known):
        self.tally, self.known = Tally(), known
        self.kinds = defaultdict(Counter)
        self.used, self.unsent, self.unjudged, self.made = Counter(), Counter(), Counter(), Counter()
        self.missing = []

    def excused(self, file, operation, text):
        """True if a row of `explained.tsv` names this file (or `*`), this operation (or `*`) and a part of the text."""
        for (name, what), (part, _) in self.known.items():
            if name in ("*", file) and what.split(" #")[0] in ("*", operation) and re.search(part, text):
                self.used[name, what, part] += 1
                return True
        return False

    def wrong(self, file, record):
        """True if this operation is not simply good: what is judged again after a change."""
        if record.get("gone") or record.get("schema") or not record["sent"]:
            return True
        if any(problem for _, problem in record["answers"]):
            return True
        found = [(oracle, *verdict, request["request"]) for request in record["requests"] for oracle, verdict in request["verdicts"].items()]
        return any(one == "bad" and not self.excused(file, record["name"], f"{oracle}: {why} @ {shown}") for oracle, one, why, shown in found)

    def document(self, row, records):
        kind = self.kinds[row["kind"]]
        if not records:
            if int(row["operations"] or 0):
                self.missing.append(row["file"])
            return
        first = next(iter(records.values()))
        kind["documents"] += 1
        kind["no prism"] += first["prism"] == "no"
        kind["lean prism"] += first["prism"] == "lean"
        kind["no openapi-core"] += not first["core"]
        for record in records.values():
            self.operation(row["file"], kind, record)

    def operation(self, file, kind, record):
        name = record["name"]
        kind["operations"] += 1
        self.made.update(record["made"])
        if record.get("gone"):
            self.tally.check(False, f"{file} {name}: the server is gone after {record['gone']}")
        if record.get("schema"):
            self.tally.check(False, f"{file} {name}: outputSchema: {record['schema']}")
        outcomes = defaultdict(set)
        for request in record["requests"]:
            for oracle, (one, reason) in request["verdicts"].items():
                if one == "bad" and self.excused(file, name, f"{oracle}: {reason} @ {request['request']}"):
                    one = "excused"
                outcomes[oracle].add(one)
                if one == "unjudged":
                    self.unjudged[f"{oracle}: {reason[:60]}"] += 1
                elif one == "good":
                    self.tally.passed += 1
                elif one == "bad":
                    self.tally.check(False, f"{file} {name}: {oracle}: {reason[:400]}\n     {request['request']}\n     {request['values']}")
        self.answers(file, kind, record)
        if not record["sent"]:
            kind["not sent"] += 1
            if not self.excused(file, name, f"not sent: {record['refusal']}"):
                self.unsent[f"{file} {name}: {record['refusal'][:120]}"] += 1
            return
        kind["sent"] += 1
        for oracle in ORACLES:
            kind[f"{oracle} {worst(outcomes[oracle])}"] += 1
        kind[worst(set().union(*outcomes.values()))] += 1

    def answers(self, file, kind, record):
        for how, problem in record["answers"]:
            kind["answers"] += 1
            if problem and self.excused(file, record["name"], f"answer: {problem}"):
                kind["answers excused"] += 1
                continue
            self.tally.check(not problem, f"{file} {record['name']}: {problem}")
            if how.startswith("structured"):
                kind["structured"] += 1
                kind["structured good"] += not problem
                kind["structured made"] += how.endswith("made")

    def show(self, verbose=False):
        """Prints the tables; 0 if the figures hold."""
        total = Counter()
        for kind in self.kinds.values():
            total.update(kind)
        print("| | " + " | ".join([*sorted(self.kinds), "all"]) + " |")
        print("|" + " --- |" * (len(self.kinds) + 2))
        for column in COLUMNS:
            print(f"| {column} | " + " | ".join(str(kind[column]) for kind in [*(self.kinds[name] for name in sorted(self.kinds)), total]) + " |")
        print("not sent: " + json.dumps(self.unsent.most_common(None if verbose else 12), ensure_ascii=False))
        print("unjudged, by reason: " + json.dumps(self.unjudged.most_common(12), ensure_ascii=False))
        print("explained: " + json.dumps([[*key, count] for key, count in self.used.most_common()], ensure_ascii=False))
        print(f"without records: {self.missing}")
        print(f"generated by: {dict(self.made)}")
        judged = total["good"] + total["excused"] + total["bad"]
        share = total["good"] / max(total["good"] + total["bad"], 1)
        print(f"{total['good']} of {total['good'] + total['bad']} judged operations are as declared ({share:.2%}); {total['excused']} explained, {total['unjudged']} that no oracle can judge, {judged} judged in all")
        answers = total["structured good"] / max(total["structured"], 1)
        print(f"{total['structured good']} of {total['structured']} structured answers fit their outputSchema ({answers:.2%})")
        print(f"oracle: {self.tally.passed} passed, {self.tally.failed} failed")
        return 0 if share >= 0.99 and answers == 1 and total["good"] else 1


def worst(outcomes):
    """The outcome that counts where an operation has several."""
    return next((it for it in ("bad", "excused", "good") if it in outcomes), "unjudged")

"""Python's openapi-core as a judge of requests."""

import json
import re
import warnings
from urllib.parse import parse_qsl, unquote, urlsplit

import yaml
from corpus import Late
from generate import within
from judges import METHODS

warnings.simplefilter("ignore")


class Loader(yaml.CSafeLoader):
    """YAML without dates and with two words for booleans, as 1.2's core schema has it."""


Loader.yaml_implicit_resolvers = {
    key: [it for it in value if it[0] not in ("tag:yaml.org,2002:timestamp", "tag:yaml.org,2002:bool")] for key, value in yaml.CSafeLoader.yaml_implicit_resolvers.items()
}
Loader.add_implicit_resolver("tag:yaml.org,2002:bool", re.compile("^(?:true|True|TRUE|false|False|FALSE)$"), list("tTfF"))


def keyed(node):
    """Keys as text: response codes are written as numbers."""
    if isinstance(node, dict):
        return {str(key) if not isinstance(key, bool) else str(key).lower(): keyed(value) for key, value in node.items()}
    if isinstance(node, list):
        return [keyed(item) for item in node]
    return node


class Core:
    """Python's openapi-core, with the document's servers replaced by the one that records."""

    def __init__(self, file, url):
        self.document, self.file, self.url, self.why = None, file, url, ""
        self.parts, self.apis = [], {}
        try:
            text = file.read_text(encoding="utf-8")
            try:
                document = json.loads(text)
            except ValueError:
                document = keyed(yaml.load(text, Loader))
            if "openapi" not in document:
                self.why = "openapi-core reads 3.x only"
                return
            document["servers"] = [{"url": url}]
            for path in document.get("paths", {}).values():
                if isinstance(path, dict):
                    path.pop("servers", None)
                    for operation in path.values():
                        if isinstance(operation, dict):
                            operation.pop("servers", None)
            self.document = document
            whole = "#/paths/" in json.dumps(document)
            self.parts = [(path, None if whole else re.compile(re.sub(r"\\\{.*?\\\}", ".*", re.escape(path)), re.DOTALL)) for path in document.get("paths", {})]
        except Exception as error:  # noqa: BLE001 - whatever the oracle does not read
            self.why = f"openapi-core does not read the document: {type(error).__name__}"

    def api(self, path):
        """The judge for the paths of the document that this one can be; all others only cost time."""
        from openapi_core import Config, OpenAPI

        fitting = tuple(template for template, pattern in self.parts if pattern is None or pattern.fullmatch(path))
        if fitting not in self.apis:
            document = {**self.document, "paths": {template: self.document["paths"][template] for template in fitting}}
            self.apis = {fitting: OpenAPI.from_dict(document, base_uri=self.file.as_uri(), config=Config(spec_validator_cls=None))}
        return self.apis[fitting]

    def verdict(self, request):
        """`good`, `bad` or `unjudged`, and why."""
        if self.document is None:
            return "unjudged", self.why
        if request.method not in METHODS:
            return "unjudged", f"openapi-core does not know the method {request.method}"
        from openapi_core.exceptions import OpenAPIError
        from openapi_core.templating.paths.exceptions import PathNotFound
        from openapi_core.testing import MockRequest
        from werkzeug.datastructures import Headers, ImmutableMultiDict

        split = urlsplit(self.url + request.target)
        # As the servers that openapi-core sits in give it: decoded, where that leaves the segments as they are.
        path = split.path if "%2f" in split.path.lower() else unquote(split.path)
        one = MockRequest(self.url, request.method, path, headers=request.headers, data=request.body or None, content_type=request.headers.get("content-type", ""))
        one.parameters.query = ImmutableMultiDict(parse_qsl(split.query, keep_blank_values=True))
        one.parameters.header = Headers(list(request.headers.items()))
        cookies = [part.strip().partition("=") for part in request.headers.get("cookie", "").split(";") if part.strip()]
        one.parameters.cookie = ImmutableMultiDict([(name, unquote(value)) for name, _, value in cookies])
        try:
            with within(10):
                errors = list(self.api(path).iter_request_errors(one))
        except (PathNotFound,) as error:
            return "unjudged", f"path not found: {error}"[:80]
        except OpenAPIError as error:
            return "bad", causes(error, True)[:500]
        except Late:
            return "unjudged", "too slow"
        except Exception as error:  # noqa: BLE001 - faults of the oracle
            return "unjudged", f"openapi-core fails: {type(error).__name__}"
        if not errors:
            return "good", ""
        if one.content_type.startswith("application/x-www-form-urlencoded") and not request.body and all(type(it).__name__ == "MissingRequiredRequestBody" for it in errors):
            return "unjudged", "a form without fields is an empty body"
        return "bad", "; ".join(f"{causes(error, True)}" for error in errors)[:500]


def causes(error, itself=False):
    """An exception and what stands behind it: what a schema says before the value that it says it of."""
    found = []
    cause = error if itself else error.__cause__
    while cause is not None and len(found) < 4:
        details = [shortened(str(getattr(it, "message", it))) for it in getattr(cause, "schema_errors", [])][:3]
        try:
            text = "" if details else str(cause)[: 60 if getattr(cause.__cause__, "schema_errors", None) else 200]
        except Exception:  # noqa: BLE001 - some of the oracle's own can't be shown
            text = ""
        found.append(" ".join([type(cause).__name__, *details, text]).strip())
        cause = cause.__cause__
    return " <- ".join(found)


def shortened(message):
    """A message of jsonschema: the value comes first, what is wrong with it last."""
    return message if len(message) < 200 else f"{message[:60]} … {message[-130:]}"

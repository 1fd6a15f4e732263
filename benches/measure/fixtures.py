"""Documents and settings that benches/measure/run serves."""
import base64, json, os, subprocess, time

PET = {"type": "object", "properties": {
    "id": {"type": "integer"}, "name": {"type": "string"}, "tag": {"type": "string"}, "status": {"type": "string", "enum": ["available", "pending", "sold"]},
    "owner": {"type": "object", "properties": {"name": {"type": "string"}, "email": {"type": "string"}}},
    "vaccinated": {"type": "boolean"}, "weightKg": {"type": "number"}}, "required": ["id", "name"]}


def answer(schema, status="200"):
    return {status: {"description": "Good", "content": {"application/json": {"schema": schema}}}}


def tiny(folder, base):
    """Three operations: a small answer, a large one, one with a body."""
    number = {"name": "petId", "in": "path", "required": True, "description": "The id of the pet", "schema": {"type": "integer"}}
    pet = {"$ref": "#/components/schemas/Pet"}
    paths = {
        "/pets/{petId}": {"get": {"operationId": "getPet", "summary": "Get one pet", "parameters": [number], "responses": answer(pet)}},
        "/big": {"get": {"operationId": "getBig", "summary": "List everything", "responses": answer({"type": "array", "items": pet})}},
        "/pets": {"post": {"operationId": "createPet", "summary": "Create a pet", "responses": answer(pet, "201"),
                           "requestBody": {"required": True, "content": {"application/json": {"schema": pet}}}}}}
    return write(folder, "tiny.json", {"openapi": "3.0.3", "info": {"title": "Tiny Pets", "version": "1"}, "servers": [{"url": base}], "paths": paths,
                                       "components": {"schemas": {"Pet": PET}}})


def big(folder):
    """The large answer: 104 kB of JSON."""
    rows = [{"id": n, "name": f"Pet number {n}", "tag": "dog", "status": "available", "owner": {"name": "Ada \"the vet\" Lovelace", "email": "ada@example.org"},
             "vaccinated": True, "weightKg": 12.5} for n in range(640)]
    text = json.dumps(rows, separators=(",", ":"))
    with open(os.path.join(folder, "big.json"), "w") as file:
        file.write(text)
    return len(text)


def many(folder, operations, name="many.json", base=None, prefix="item"):
    """A document with so many operations."""
    number = {"name": "petId", "in": "path", "required": True, "schema": {"type": "integer"}}
    paths = {"/pets/{petId}" if n == 0 else f"/{n}/pets/{{petId}}":
             {"get": {"operationId": f"{prefix}{n}", "summary": f"Get pet {n}", "parameters": [number], "responses": answer(PET)}} for n in range(operations)}
    whole = {"openapi": "3.1.0", "info": {"title": "Many", "version": "1"}, "paths": paths}
    if base:
        whole["servers"] = [{"url": base}]
    return write(folder, name, whole)


def mapping(folder, name, **members):
    return write(folder, name, {"version": 1, **members})


def write(folder, name, value):
    path = os.path.join(folder, name)
    with open(path, "w") as file:
        json.dump(value, file) if not isinstance(value, str) else file.write(value)
    return path


def guarded(folder, document, base, port):
    """Settings with tokens, a Rego policy over tenants, an audit trail in a file and metrics: (settings, token)."""
    key = os.path.join(folder, "key.pem")
    run("openssl", "genpkey", "-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:2048", "-out", key)
    modulus = run("openssl", "rsa", "-in", key, "-noout", "-modulus").decode().strip().split("=")[1]
    jwk = {"kty": "RSA", "kid": "one", "alg": "RS256", "use": "sig", "n": b64(bytes.fromhex(modulus)), "e": "AQAB"}
    write(folder, "jwks.json", {"keys": [jwk]})
    claims = {"iss": "https://issuer.example", "aud": "http://127.0.0.1/mcp", "sub": "agent", "tenant": "shop", "scope": "read write",
              "exp": int(time.time()) + 86400, "iat": int(time.time())}
    signed = b64(json.dumps({"alg": "RS256", "kid": "one", "typ": "JWT"}).encode()) + "." + b64(json.dumps(claims).encode())
    token = signed + "." + b64(run("openssl", "dgst", "-sha256", "-sign", key, given=signed.encode()))
    write(folder, "policy.rego", 'package mcp\n\nallow if input.tool.annotations.read_only\n\nallow if input.caller.tenant == "shop"\n')
    mapping(folder, "guarded-mapping.yaml", sources={"tiny": {"spec": os.path.basename(document), "base_url": base}})
    settings = {"version": 1, "mappings": ["guarded-mapping.yaml"], "listen": f"127.0.0.1:{port}",
                "access": {"jwt": {"issuer": claims["iss"], "audience": claims["aud"], "jwks": "jwks.json", "tenant_claim": "tenant"},
                           "tenants": {"shop": {"deny": ["method:DELETE"]}}, "policy": {"rego": ["policy.rego"]}},
                "audit": {"to": os.path.join(folder, "audit.jsonl")}, "telemetry": {"metrics": "/metrics"}}
    return write(folder, "guarded.yaml", settings), token


def b64(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def run(*command, given=None):
    return subprocess.run(command, input=given, capture_output=True, check=True).stdout


def as_yaml(value, depth=0):
    """Block YAML of a JSON value, texts in double quotes."""
    pad = "  " * depth
    if isinstance(value, dict) and value:
        return "".join(f"\n{pad}{json.dumps(key, ensure_ascii=False)}:{item(one, depth)}" for key, one in value.items())
    if isinstance(value, list) and value:
        return "".join(f"\n{pad}-{item(one, depth)}" for one in value)
    return " " + json.dumps(value, ensure_ascii=False)


def item(value, depth):
    return as_yaml(value, depth + 1)

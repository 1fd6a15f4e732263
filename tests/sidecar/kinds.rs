//! Secrets of every kind, searched by value in everything that comes out.

use super::{Folder, STILL, echo, hash, modern, run};
use crate::access::jwt::{AUDIENCE, ISSUER, Signer, good};
use crate::upstream::server::{Act, answer, serve};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::json;

const API: &str = r#"
openapi: 3.1.0
info: { title: shop, version: "1" }
servers: [{ url: BACKEND }]
components:
  securitySchemes:
    head: { type: apiKey, in: header, name: X-Key }
    query: { type: apiKey, in: query, name: key }
    cookie: { type: apiKey, in: cookie, name: sid }
    basic: { type: http, scheme: basic }
    bearer: { type: http, scheme: bearer }
    oauth: { type: oauth2, flows: { clientCredentials: { tokenUrl: "TOKENS/token", scopes: {} } } }
    swap: { type: http, scheme: bearer }
paths:
  /head: { get: { operationId: head, summary: a, security: [{ head: [] }], responses: { "200": { description: ok } } } }
  /query: { get: { operationId: query, summary: a, security: [{ query: [] }], responses: { "200": { description: ok } } } }
  /cookie: { get: { operationId: cookie, summary: a, security: [{ cookie: [] }], responses: { "200": { description: ok } } } }
  /basic: { get: { operationId: basic, summary: a, security: [{ basic: [] }], responses: { "200": { description: ok } } } }
  /bearer: { get: { operationId: bearer, summary: a, security: [{ bearer: [] }], responses: { "200": { description: ok } } } }
  /oauth: { get: { operationId: oauth, summary: a, security: [{ oauth: [] }], responses: { "200": { description: ok } } } }
  /swap: { get: { operationId: swap, summary: a, security: [{ swap: [] }], responses: { "200": { description: ok } } } }
"#;

const KINDS: [&str; 7] = ["head", "query", "cookie", "basic", "bearer", "oauth", "swap"];

/// The API says back what it was sent, as error and as answer; the secrets in it must not come out.
#[tokio::test]
async fn no_secret_of_any_kind_comes_out_anywhere() {
    let tokens = serve(|number, request| {
        let token = if request.contains("token-exchange") { "exchanged-token-1" } else { "granted-token-1" };
        let body = json!({"access_token": format!("{token}-{number}"), "token_type": "Bearer", "expires_in": 3600});
        Act::Send(answer("200 OK", "content-type: application/json\r\n", body.to_string()))
    })
    .await;
    // First an answer, then a refusal, then a broken connection; all with everything that was sent.
    let api = serve(|number, request| {
        let echo = format!("x-echo: {}\r\n", request.lines().next().unwrap_or_default());
        let headers = format!("{echo}content-type: application/json\r\n");
        match number % 3 {
            0 => Act::Send(answer("200 OK", &headers, json!({"ok": true, "sent": request}).to_string())),
            1 => Act::Send(answer("403 Forbidden", &headers, json!({"message": request}).to_string())),
            _ => Act::SendAndReset(format!("HTTP/1.1 200 OK\r\ncontent-length: 9999\r\n\r\n{request}").into_bytes()),
        }
    })
    .await;
    let signer = Signer::new("k1");
    let settings = format!(
        r#"
state_key: "${{file:secrets/state}}"
audit: {{ to: audit.jsonl, arguments: full }}
telemetry: {{ metrics: /metrics }}
access:
  api_keys: [{{ name: a, key_hash: "{}", tenant: acme }}]
  jwt: {{ issuer: "{ISSUER}", audience: "{AUDIENCE}", jwks: jwks.json, tenant_claim: org }}
  tenants: {{ acme: {{ credentials: {{ shop: {{ head: "${{file:secrets/tenant}}" }} }} }} }}
"#,
        hash("caller-key-value-1")
    );
    let folder = Folder::new(&settings, &api.url);
    let secrets = [
        ("state", "state-key-0123456789-0123456789-01"),
        ("tenant", "tenant-head-value-1"),
        ("query", "query value+1/&%"),
        ("cookie", "cookie-value-1"),
        ("user", "user-value-1"),
        ("password", "password-value-1"),
        ("bearer", "bearer-value-1"),
        ("id", "client-id-value-1"),
        ("client", "client-secret-value-1"),
        ("head", "head-value-1"),
    ];
    for (name, value) in secrets {
        folder.write(&format!("secrets/{name}"), value);
    }
    folder.write("jwks.json", &json!({"keys": [signer.jwk()]}).to_string());
    folder.write("api.yaml", &API.replace("BACKEND", &api.url).replace("TOKENS", &tokens.url));
    folder.write(
        "mapping.yaml",
        &r#"
version: 1
sources:
  shop:
    spec: api.yaml
    limits: { retries: 0 }
    credentials:
      head: { value: "${file:secrets/head}" }
      query: { value: "${file:secrets/query}" }
      cookie: { value: "${file:secrets/cookie}" }
      basic: { username: "${file:secrets/user}", password: "${file:secrets/password}" }
      bearer: { value: "${file:secrets/bearer}" }
      oauth: { grant: client_credentials, client_id: "${file:secrets/id}", client_secret: "${file:secrets/client}" }
      swap: { exchange: { token_url: "TOKENS/token", client_id: "${file:secrets/id}", client_secret: "${file:secrets/client}" } }
"#
        .replace("TOKENS", &tokens.url),
    );
    let world = run(folder, STILL).await;
    let token = signer.sign(&good());
    let callers =
        [format!("Bearer {token}"), "Bearer caller-key-value-1".to_owned(), "Bearer wrong-key-value-1".to_owned()];
    let mut out = String::new();
    for caller in &callers {
        let headers = [("authorization", caller.as_str())];
        out.push_str(&format!("{:?}", world.post(&headers, &modern("tools/list", json!({}))).await));
        for tool in KINDS {
            for _ in 0..3 {
                out.push_str(&format!("{:?}\n", world.call(&headers, tool, json!({})).await));
            }
            out.push_str(&format!("{:?}\n", world.call(&headers, tool, json!({"no": "such"})).await));
        }
        out.push_str(&world.get("/metrics", &headers).await.1);
    }
    assert!(out.contains("rest_mcp_calls_total"), "{out}");
    let sent = api.requests().join("\n") + &tokens.requests().join("\n");
    for (kind, value) in [
        ("tenant", "tenant-head-value-1"),
        ("query", "key=query%20value%2B1%2F%26%25"),
        ("cookie", "sid=cookie-value-1"),
        ("basic", &STANDARD.encode("user-value-1:password-value-1")),
        ("bearer", "bearer-value-1"),
        ("oauth", "granted-token-1"),
        ("swap", "exchanged-token-1"),
    ] {
        assert!(sent.contains(value), "the API never got the {kind} credential");
    }
    out.push_str(&world.audit().await.iter().map(ToString::to_string).collect::<String>());
    out.push_str(&format!("{:?}", world.sidecar.service().state().catalog));
    assert!(world.reload().await);
    world.folder.write("mapping.yaml", "version: 1\nsources: { shop: { spec: api.yaml, credentials: { head: { value: plain-text-secret-1, vale: x } } } }\n");
    assert!(!world.reload().await);
    let mut all: Vec<String> = secrets.iter().map(|(_, value)| (*value).to_owned()).collect();
    all.extend(["granted-token-1", "exchanged-token-1", "caller-key-value-1", "wrong-key-value-1"].map(str::to_owned));
    all.push(token);
    all.push("query%20value".to_owned());
    all.push(STANDARD.encode("user-value-1:password-value-1"));
    for secret in all {
        assert!(!out.contains(&secret), "`{secret}` came out");
    }
    drop(echo().await);
}

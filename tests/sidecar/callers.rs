//! The matrix of callers over HTTP: none gets in that should not, what is hidden looks unknown, every denial is
//! written down, and lists agree with calls.

use super::{Folder, Reply, Running, STILL, echo, hash, modern, run};
use crate::access::jwt::{AUDIENCE, ISSUER, Signer, good, now};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use jsonwebtoken::{Algorithm, EncodingKey, Header, encode};
use serde_json::{Value, json};

/// Keys, tokens, three tenants; `acme` may read pets, `shop` everything but deleting, `none` nothing.
fn settings() -> String {
    format!(
        r#"
audit: {{ to: audit.jsonl, arguments: full }}
access:
  api_keys:
    - {{ name: ci, key_hash: "{ci}", tenant: shop, scopes: [read] }}
    - {{ name: lost, key_hash: "{lost}", tenant: unheard_of }}
    - {{ name: idle, key_hash: "{idle}", tenant: none }}
  jwt: {{ issuer: "{ISSUER}", audience: "{AUDIENCE}", jwks: jwks.json, tenant_claim: org, scopes_supported: [read, write] }}
  tenants:
    acme: {{ allow: ["get*", "find*"], deny: ["tag:store"] }}
    shop: {{ deny: ["method:DELETE"] }}
    none: {{ allow: [] }}
"#,
        ci = hash("ci-key"),
        lost = hash("lost-key"),
        idle = hash("idle-key"),
    )
}

async fn world(backend: &str) -> (Running, Signer) {
    let signer = Signer::new("k1");
    let folder = Folder::new(&settings(), backend);
    folder.write("jwks.json", &json!({"keys": [signer.jwk()]}).to_string());
    (run(folder, STILL).await, signer)
}

fn with(changes: Value) -> Value {
    let mut claims = good();
    claims.as_object_mut().unwrap().extend(changes.as_object().unwrap().clone());
    claims
}

fn bearer(token: &str) -> String {
    format!("Bearer {token}")
}

#[tokio::test]
async fn no_wrong_credential_gets_in_and_all_get_one_answer() {
    let api = echo().await;
    let (world, signer) = world(&api.url).await;
    let stranger = Signer::new("k1");
    let part = |value: Value| URL_SAFE_NO_PAD.encode(value.to_string());
    let none = format!("{}.{}.", part(json!({"alg": "none", "typ": "JWT"})), part(good()));
    let mut hs = Header::new(Algorithm::HS256);
    hs.kid = Some("k1".to_owned());
    let confused =
        encode(&hs, &good(), &EncodingKey::from_secret(signer.jwk().to_string().as_bytes()).unwrap()).unwrap();
    let mut unknown = Header::new(Algorithm::ES256);
    unknown.kid = Some("k9".to_owned());
    let wrong = [
        ("wrong key", "nope".to_owned(), "token_malformed"),
        ("expired", signer.sign(&with(json!({"exp": now() - 600}))), "token_expired"),
        ("wrong audience", signer.sign(&with(json!({"aud": "https://elsewhere.example"}))), "token_audience"),
        ("wrong issuer", signer.sign(&with(json!({"iss": "https://evil.example"}))), "token_issuer"),
        ("alg none", none, "token_malformed"),
        ("key confusion", confused, "token_algorithm"),
        ("unknown kid", signer.sign_with(&unknown, &good()), "token_key_unknown"),
        ("stranger's signature", stranger.sign(&good()), "token_signature"),
    ];
    let list = modern("tools/list", json!({}));
    let mut said: Option<(u16, Option<String>, String)> = None;
    for (case, token, _) in &wrong {
        for message in [&list, &modern("tools/call", json!({"name": "getPet", "arguments": {"id": "7"}}))] {
            let reply = world.post(&[("authorization", &bearer(token))], message).await;
            let heard = (reply.status, reply.challenge, reply.text);
            assert_eq!(heard.0, 401, "{case}: {heard:?}");
            assert_eq!(*said.get_or_insert(heard.clone()), heard, "{case}");
        }
    }
    let (_, challenge, _) = said.unwrap();
    let challenge = challenge.unwrap();
    assert!(challenge.contains("error=\"invalid_token\"") && challenge.contains("scope=\"read write\""), "{challenge}");
    let nobody = world.post(&[], &list).await;
    assert_eq!(nobody.status, 401);
    let metadata = "resource_metadata=\"https://mcp.example/.well-known/oauth-protected-resource/v1/mcp\"";
    assert!(nobody.challenge.unwrap().contains(metadata));
    assert_eq!(api.count(), 0, "nothing may reach the API");
    let reasons: Vec<String> =
        world.audit().await.iter().map(|line| line["reason"].as_str().unwrap().to_owned()).collect();
    let mut expected: Vec<&str> = wrong.iter().flat_map(|(_, _, reason)| [*reason, *reason]).collect();
    expected.push("no_credential");
    assert_eq!(reasons, expected);
}

#[tokio::test]
async fn the_metadata_document_is_served_to_everybody() {
    let (world, _) = world("http://127.0.0.1:9").await;
    for path in ["/.well-known/oauth-protected-resource/v1/mcp", "/.well-known/oauth-protected-resource"] {
        let (status, text) = world.get(path, &[]).await;
        assert_eq!(status, 200);
        let document: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(document["resource"], AUDIENCE);
        assert_eq!(document["authorization_servers"], json!([ISSUER]));
        assert_eq!(document["scopes_supported"], json!(["read", "write"]));
    }
}

/// The same reply but for the tool's name.
fn without(reply: &Reply, name: &str) -> (u16, Option<String>, String) {
    (reply.status, reply.challenge.clone(), reply.text.replace(name, "NAME"))
}

#[tokio::test]
async fn what_a_tenant_may_not_call_looks_unknown() {
    let api = echo().await;
    let (world, signer) = world(&api.url).await;
    let token = bearer(&signer.sign(&good()));
    for (who, seen, hidden) in [
        (&token, &["findPets", "getPet"][..], &["addPet", "deletePet", "getOrders"][..]),
        (&bearer("ci-key"), &["findPets", "addPet", "getPet", "getOrders"], &["deletePet"]),
        (&bearer("lost-key"), &[], &["findPets", "addPet", "getPet", "deletePet", "getOrders"]),
        (&bearer("idle-key"), &[], &["findPets", "addPet", "getPet", "deletePet", "getOrders"]),
    ] {
        let headers = [("authorization", who.as_str())];
        let mut listed = world.tools(&headers).await;
        listed.sort();
        let mut expected: Vec<String> = seen.iter().map(|name| (*name).to_owned()).collect();
        expected.sort();
        assert_eq!(listed, expected);
        let reply = world.call(&headers, "no_such_tool", json!({"id": "7"})).await;
        for name in hidden {
            let other = world.call(&headers, name, json!({"id": "7"})).await;
            assert_eq!(without(&other, name), without(&reply, "no_such_tool"), "{name}");
        }
    }
    assert_eq!(api.count(), 0);
    let denied: Vec<Value> = world.audit().await.into_iter().filter(|line| line["audit"] == "denied").collect();
    assert_eq!(denied.len(), 4 + 3 + 1 + 5 + 5);
    assert!(denied.iter().all(|line| line["request_id"].is_string() && line["subject"].is_string()));
    let reasons = |reason: &str| denied.iter().filter(|line| line["reason"] == reason).count();
    assert_eq!((reasons("unknown_tool"), reasons("hidden_tool")), (4, 14));
}

#[tokio::test]
async fn lists_are_private_where_callers_differ() {
    let (world, signer) = world("http://127.0.0.1:9").await;
    let token = bearer(&signer.sign(&good()));
    let reply = world.post(&[("authorization", &token)], &modern("tools/list", json!({}))).await;
    assert_eq!(reply.body["result"]["cacheScope"], "private");
}

#[tokio::test]
async fn each_tenant_calls_with_its_own_credential_and_no_oftener_than_it_may() {
    let api = echo().await;
    let settings = format!(
        r#"
audit: {{ to: audit.jsonl }}
access:
  api_keys:
    - {{ name: a, key_hash: "{}", tenant: acme }}
    - {{ name: b, key_hash: "{}", tenant: other }}
  tenants:
    acme: {{ rate: 2/h, credentials: {{ shop: {{ key: "${{file:secrets/acme}}" }} }} }}
    other: {{}}
"#,
        hash("a-key"),
        hash("b-key")
    );
    let folder = Folder::new(&settings, &api.url);
    folder.write("secrets/acme", "acme-upstream-key");
    let world = run(folder, STILL).await;
    let (acme, other) = ([("x-api-key", "a-key")], [("x-api-key", "b-key")]);
    for _ in 0..2 {
        assert_eq!(world.call(&acme, "getPet", json!({"id": "7"})).await.body["result"]["isError"], Value::Null);
    }
    let third = world.call(&acme, "getPet", json!({"id": "7"})).await;
    assert_eq!(third.body["result"]["isError"], true, "{third:?}");
    assert!(third.text.contains("try again in"), "{third:?}");
    // A reload is no way around the rate.
    assert!(world.reload().await);
    assert_eq!(world.call(&acme, "getPet", json!({"id": "7"})).await.body["result"]["isError"], true);
    for _ in 0..4 {
        assert_eq!(world.call(&other, "getPet", json!({"id": "7"})).await.body["result"]["isError"], Value::Null);
    }
    let keys: Vec<bool> =
        api.requests().iter().map(|request| request.to_lowercase().contains("x-key: acme-upstream-key\r\n")).collect();
    assert_eq!(keys, [true, true, false, false, false, false]);
    let limited = world.audit().await.iter().filter(|line| line["reason"] == "rate_limited").count();
    assert_eq!(limited, 2);
}

#[tokio::test]
async fn a_tenant_whose_credential_can_t_be_had_is_no_start() {
    let settings = format!(
        "access:\n  api_keys: [{{ name: a, key_hash: \"{}\", tenant: acme }}]\n  tenants: {{ acme: {{ credentials: {{ shop: {{ key: \"${{file:secrets/absent}}\" }}, shp: {{ key: \"${{file:secrets/key}}\" }} }} }} }}\n",
        hash("a-key")
    );
    let folder = Folder::new(&settings, "http://127.0.0.1:9");
    let setup = folder.setup().await;
    let (inputs, _) = setup.inputs().await;
    let loaded = rest_mcp::app::load_all(&inputs, setup.environment.as_ref()).await;
    let problems = rest_mcp::app::settings_problems(&setup, &loaded.catalog);
    assert_eq!(problems.len(), 2, "{problems:?}");
    assert!(problems.iter().any(|problem| problem.contains("secrets/absent")), "{problems:?}");
    assert!(problems.iter().any(|problem| problem.contains("did you mean `shop`")), "{problems:?}");
}

#[tokio::test]
async fn a_remote_policy_decides_lists_and_calls_alike_and_fails_closed() {
    use crate::upstream::server::{Act, answer, serve};
    let api = echo().await;
    let opa = serve(|_, request| {
        let yes = request.contains("\"method\":\"GET\"");
        Act::Send(answer("200 OK", "content-type: application/json\r\n", format!("{{\"result\":{yes}}}")))
    })
    .await;
    let world =
        super::start(&format!("access: {{ policy: {{ opa: \"{}/v1/data/mcp/allow\" }} }}\n", opa.url), &api.url).await;
    let seen = world.tools(&[]).await;
    assert_eq!(seen, ["findPets", "getPet", "getOrders"]);
    for name in ["findPets", "addPet", "getPet", "deletePet", "getOrders"] {
        let reply = world.call(&[], name, json!({"id": "7", "name": "x"})).await;
        assert_eq!(reply.body["error"].is_null(), seen.contains(&name.to_owned()), "{name}: {reply:?}");
    }
    let dead =
        super::start("access: { policy: { opa: \"http://127.0.0.1:9/v1/data/x\", timeout: 200ms } }\n", &api.url).await;
    assert!(dead.tools(&[]).await.is_empty());
    assert!(dead.call(&[], "getPet", json!({"id": "7"})).await.text.contains("Unknown tool"));
}

mod agreement {
    //! For every tenant and tool: what is listed is exactly what may be called.
    use super::*;
    use proptest::prelude::*;

    const NAMES: [&str; 5] = ["findPets", "addPet", "getPet", "deletePet", "getOrders"];

    fn pattern() -> impl Strategy<Value = String> {
        prop::sample::select(vec![
            "get*",
            "find*",
            "*Pet",
            "*",
            "deletePet",
            "tag:pet",
            "tag:admin",
            "tag:store",
            "method:GET",
            "method:DELETE",
            "method:POST",
            "nothing",
        ])
        .prop_map(str::to_owned)
    }

    fn lists() -> impl Strategy<Value = (Option<Vec<String>>, Vec<String>)> {
        (prop::option::of(prop::collection::vec(pattern(), 0..3)), prop::collection::vec(pattern(), 0..3))
    }

    fn settings(tenants: &[(Option<Vec<String>>, Vec<String>)], rego: bool) -> String {
        let mut keys = String::new();
        let mut rules = String::new();
        for (index, (allow, deny)) in tenants.iter().enumerate() {
            keys.push_str(&format!(
                "    - {{ name: k{index}, key_hash: \"{}\", tenant: t{index} }}\n",
                hash(&format!("key-{index}"))
            ));
            let allow = allow.as_ref().map(|allow| format!("allow: {}, ", json!(allow))).unwrap_or_default();
            rules.push_str(&format!("    t{index}: {{ {allow}deny: {} }}\n", json!(deny)));
        }
        let policy = if rego { "  policy: { rego: [policy.rego] }\n" } else { "" };
        format!("access:\n  api_keys:\n{keys}  tenants:\n{rules}{policy}")
    }

    const POLICY: &str =
        "package mcp\n\nallow if input.tool.method == \"GET\"\n\nallow if input.caller.tenant == \"t0\"\n";

    proptest! {
        #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]
        #[test]
        fn lists_and_calls_agree(tenants in prop::collection::vec(lists(), 1..4), rego in any::<bool>()) {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
            runtime.block_on(async {
                let api = echo().await;
                let folder = Folder::new(&settings(&tenants, rego), &api.url);
                folder.write("policy.rego", POLICY);
                let world = run(folder, STILL).await;
                for index in 0..tenants.len() {
                    let key = format!("key-{index}");
                    let headers = [("x-api-key", key.as_str())];
                    let listed = world.tools(&headers).await;
                    for name in NAMES {
                        let before = api.count();
                        let arguments = match name {
                            "addPet" => json!({"name": "x"}),
                            "getPet" | "deletePet" => json!({"id": "7"}),
                            _ => json!({}),
                        };
                        let reply = world.call(&headers, name, arguments).await;
                        let called = reply.body["error"].is_null();
                        assert_eq!(called, listed.contains(&name.to_owned()), "{name} of t{index}: {reply:?}");
                        assert_eq!(api.count() - before, usize::from(called), "{name} of t{index}");
                    }
                }
            });
        }
    }
}

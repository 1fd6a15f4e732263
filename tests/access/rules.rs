//! Tenants, scopes and Rego: one answer for the list and for the call.

use super::{catalog, names, strings, tenants, tool};
use proptest::prelude::*;
use rest_mcp::access::{Access, Caller, Decision, Pattern, Rules, ScopeRule};
use rest_mcp::service::Visible;
use rest_mcp::upstream::policy::Gate;
use serde_json::json;
use std::sync::Arc;

fn of(tenant: &str) -> Caller {
    Caller { tenant: Some(tenant.into()), ..Caller::default() }
}

#[test]
fn without_rules_everybody_sees_everything() {
    let access = Access::new(&Rules::default()).unwrap();
    assert!(matches!(access.visible(&of("any"), &catalog()), Visible::All));
}

#[test]
fn tenants_see_what_their_lists_say() {
    let rules = Rules {
        tenants: tenants(&[
            ("acme", &["get_*", "tag:search"], &["get_order"]),
            ("root", &[], &["method:delete"]),
            ("none", &["nothing"], &[]),
            ("src", &["source:sh?p"], &["tag:*"]),
        ]),
        ..Rules::default()
    };
    let access = Access::new(&rules).unwrap();
    let catalog = catalog();
    for (tenant, expected) in [
        ("acme", &["get_pet", "find_pets"][..]),
        ("root", &["get_pet", "find_pets", "create_pet", "get_order", "purge"]),
        ("none", &[]),
        ("src", &[]),
        ("stranger", &[]),
        ("*", &[]),
    ] {
        assert_eq!(names(&catalog, &access.visible(&of(tenant), &catalog)), expected, "{tenant}");
    }
    // Who was let in without a tenant has none to be restricted by, unless `*` says so.
    assert_eq!(names(&catalog, &access.visible(&Caller::default(), &catalog)).len(), 6);
    let rules = Rules { tenants: tenants(&[("*", &["get_pet"], &[]), ("acme", &[], &[])]), ..Rules::default() };
    let access = Access::new(&rules).unwrap();
    assert_eq!(names(&catalog, &access.visible(&Caller::default(), &catalog)), ["get_pet"]);
    assert_eq!(names(&catalog, &access.visible(&of("stranger"), &catalog)), ["get_pet"]);
    assert_eq!(names(&catalog, &access.visible(&of("acme"), &catalog)).len(), 6);
}

#[test]
fn patterns_are_globs_over_one_thing() {
    let tool = tool("get_pet", &["pet", "v2/beta"], "GET");
    for (pattern, expected) in [
        ("get_pet", true),
        ("get_*", true),
        ("*", true),
        ("*pet*", true),
        ("*t", true),
        ("g?t_pet", true),
        ("**_**", true),
        ("get", false),
        ("GET_pet", false),
        ("?get_pet", false),
        ("*x*", false),
        ("tag:pet", true),
        ("tag:v2/*", true),
        ("tag:pe", false),
        ("method:get", true),
        ("method:G*", true),
        ("method:POST", false),
        ("source:shop", true),
    ] {
        assert_eq!(Pattern::parse(pattern).unwrap().matches(&tool), expected, "{pattern}");
    }
    for wrong in ["", "tags:pet", "tag:", "scope:x"] {
        assert!(Pattern::parse(wrong).is_err(), "{wrong}");
    }
}

#[test]
fn every_wrong_pattern_and_policy_is_told() {
    let rules = Rules {
        tenants: tenants(&[("acme", &["tags:x"], &[""])]),
        scopes: vec![ScopeRule { tools: strings(&["label:x"]), scopes: strings(&["a"]) }],
        rego: vec![("bad.rego".to_owned(), "package mcp\nallow if {".to_owned())],
        ..Rules::default()
    };
    let problems = Access::new(&rules).unwrap_err();
    assert_eq!(problems.len(), 4, "{problems:?}");
    assert!(problems[3].contains("bad.rego"), "{problems:?}");
}

#[test]
fn missing_scopes_are_named_but_not_of_hidden_tools() {
    let rules = Rules {
        tenants: tenants(&[("acme", &[], &["purge"])]),
        scopes: vec![
            ScopeRule { tools: strings(&["tag:admin"]), scopes: strings(&["admin", "audit"]) },
            ScopeRule { tools: strings(&["delete_*"]), scopes: strings(&["admin", "delete"]) },
        ],
        ..Rules::default()
    };
    let access = Access::new(&rules).unwrap();
    let caller = |scopes: &[&str]| Caller { scopes: strings(scopes), ..of("acme") };
    let delete = tool("delete_pet", &["admin"], "DELETE");
    let needs = |scopes: &[&str]| Decision::NeedScopes(strings(scopes));
    assert_eq!(access.decide(&caller(&[]), &delete), needs(&["admin", "audit", "delete"]));
    assert_eq!(access.decide(&caller(&["audit", "admin"]), &delete), needs(&["delete"]));
    assert_eq!(access.decide(&caller(&["audit", "admin", "delete"]), &delete), Decision::Allow);
    assert_eq!(access.decide(&caller(&["Admin", "audit", "delete"]), &delete), needs(&["admin"]));
    assert_eq!(access.decide(&caller(&[]), &tool("purge", &["admin"], "POST")), Decision::Hide);
}

const POLICY: &str = r#"
package mcp

import rego.v1

default allow := false

allow if {
    input.tool.method == "GET"
    input.caller.tenant == "acme"
}

allow if "admin" in input.caller.scopes

allow if {
    some role in input.caller.claims.roles
    role in {"keeper", "owner"}
    "pet" in input.tool.tags
    not input.tool.annotations.destructive
}
"#;

fn policy(text: &str, query: &str) -> Access {
    let rego = vec![("policy.rego".to_owned(), text.to_owned())];
    Access::new(&Rules { rego, query: query.to_owned(), ..Rules::default() }).unwrap()
}

#[test]
fn rego_decides_by_caller_and_tool() {
    let (access, catalog) = (policy(POLICY, ""), catalog());
    let claims = json!({"roles": ["guest", "keeper"]});
    let keeper = Caller { claims: Some(Arc::new(claims)), ..Caller::default() };
    let admin = Caller { scopes: strings(&["admin"]), ..Caller::default() };
    for (caller, expected) in [
        (of("acme"), &["get_pet", "find_pets", "get_order"][..]),
        (keeper, &["get_pet", "find_pets", "create_pet"]),
        (admin, &["get_pet", "find_pets", "create_pet", "delete_pet", "get_order", "purge"]),
        (of("other"), &[]),
        (Caller::default(), &[]),
    ] {
        assert_eq!(names(&catalog, &access.visible(&caller, &catalog)), expected, "{caller:?}");
    }
}

#[test]
fn rego_that_gives_no_clear_yes_hides() {
    for text in [
        "package mcp\nallow := \"yes\"",
        "package mcp\nallow := 1",
        "package mcp\nallow := {\"allow\": \"true\"}",
        "package mcp\nallow if input.nothing.here",
        "package mcp\nallow := x if { x := 1 / input.zero }",
        "package mcp\nallow := true if input.caller.tenant == \"other\"\nallow := false if input.caller.tenant == \"other\"",
    ] {
        let access = policy(&format!("{text}\n"), "data.mcp.allow");
        assert_eq!(access.decide(&of("other"), &tool("get_pet", &[], "GET")), Decision::Hide, "{text}");
    }
}

#[test]
fn rego_may_ask_for_scopes() {
    let text = "package gate\nimport rego.v1\nanswer := {\"allow\": false, \"scopes\": [\"write\"]} if input.tool.method != \"GET\"\n\
        answer := {\"allow\": true} if input.tool.method == \"GET\"";
    let access = policy(text, "data.gate.answer");
    assert_eq!(access.decide(&of("a"), &tool("x", &[], "POST")), Decision::NeedScopes(strings(&["write"])));
    assert_eq!(access.decide(&of("a"), &tool("x", &[], "GET")), Decision::Allow);
}

#[test]
fn a_query_that_no_module_defines_is_told_at_load() {
    let rego = vec![("policy.rego".to_owned(), POLICY.to_owned())];
    let rules = Rules { rego, query: "data.mcp.permit".to_owned(), ..Rules::default() };
    assert!(Access::new(&rules).unwrap_err()[0].contains("data.mcp.permit"));
}

#[test]
fn a_policy_without_end_is_stopped_and_hides() {
    let text = "package mcp\nimport rego.v1\nallow if count([1 | some i in numbers.range(1, 100000); \
        some j in numbers.range(1, 100000); i * j == input.nothing]) > 0";
    // Compiling evaluates once: that it is stopped there too is told as a problem, or the call hides.
    let rego = vec![("slow.rego".to_owned(), text.to_owned())];
    match Access::new(&Rules { rego, ..Rules::default() }) {
        Ok(access) => assert_eq!(access.decide(&of("a"), &tool("x", &[], "GET")), Decision::Hide),
        Err(problems) => assert!(problems[0].contains("data.mcp.allow"), "{problems:?}"),
    }
}

#[test]
fn a_gate_can_be_shared_between_threads() {
    fn shared<T: Send + Sync>(_: &T) {}
    shared(&Gate::new(policy(POLICY, ""), None));
}

#[test]
fn equal_sets_have_equal_keys_and_others_do_not() {
    let rules = Rules {
        tenants: tenants(&[("a", &["get_*"], &[]), ("b", &["get_pet", "get_order"], &[]), ("c", &["get_pet"], &[])]),
        ..Rules::default()
    };
    let (access, catalog) = (Access::new(&rules).unwrap(), catalog());
    let key = |tenant| match access.visible(&of(tenant), &catalog) {
        Visible::Only { key, .. } => key,
        Visible::All => panic!("all"),
    };
    assert_eq!(key("a"), key("b"));
    assert_ne!(key("a"), key("c"));
}

fn pattern() -> impl Strategy<Value = String> {
    prop_oneof![
        "[a-z]{1,3}\\*",
        Just("get_*".to_owned()),
        Just("*_pet".to_owned()),
        Just("tag:pet".to_owned()),
        Just("tag:admin".to_owned()),
        Just("method:GET".to_owned()),
        Just("method:DELETE".to_owned()),
        Just("*".to_owned()),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn list_and_call_agree_for_every_tool_and_tenant(
        allow in prop::collection::vec(pattern(), 0..3),
        deny in prop::collection::vec(pattern(), 0..3),
        scoped in prop::collection::vec(pattern(), 0..2),
        granted in any::<bool>(),
        with_policy in any::<bool>(),
        tenant in prop_oneof![Just(None), Just(Some("acme")), Just(Some("other"))],
    ) {
        let lists = rest_mcp::access::TenantRules { allow, deny };
        let mut rules = Rules {
            tenants: indexmap::IndexMap::from([("acme".to_owned(), lists)]),
            scopes: vec![ScopeRule { tools: scoped, scopes: strings(&["s"]) }],
            ..Rules::default()
        };
        if with_policy {
            rules.rego.push(("policy.rego".to_owned(), POLICY.to_owned()));
        }
        let gate = Gate::new(Access::new(&rules).unwrap(), None);
        let caller = Caller {
            tenant: tenant.map(Into::into),
            scopes: if granted { strings(&["s"]) } else { Vec::new() },
            ..Caller::default()
        };
        let catalog = catalog();
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(async {
            for _ in 0..2 {
                let listed = names(&catalog, &gate.visible(&caller, &catalog).await);
                for (name, tool) in &catalog.tools {
                    let allowed = gate.decide(&caller, tool).await == Decision::Allow;
                    assert_eq!(listed.contains(name), allowed, "{name}");
                }
            }
        });
    }
}

#[test]
fn what_rego_decided_holds_for_the_same_caller_and_tool_only() {
    let access =
        policy("package mcp\nallow if input.caller.claims.level == 2\nallow if input.tool.name == \"free\"\n", "");
    let caller = |level: u32| Caller { claims: Some(Arc::new(json!({ "level": level }))), ..Caller::default() };
    let (paid, free) = (tool("paid", &[], "GET"), tool("free", &[], "GET"));
    // Twice each, so that the second answer may be a remembered one.
    for _ in 0..2 {
        assert_eq!(access.decide(&caller(1), &paid), Decision::Hide);
        assert_eq!(access.decide(&caller(2), &paid), Decision::Allow);
        assert_eq!(access.decide(&caller(1), &free), Decision::Allow);
        assert_eq!(access.decide(&of("acme"), &paid), Decision::Hide);
    }
    // More callers than are remembered of one tool.
    for level in 0..200 {
        let expected = if level == 2 { Decision::Allow } else { Decision::Hide };
        assert_eq!(access.decide(&caller(level), &paid), expected, "{level}");
    }
}

#[test]
fn a_policy_that_looks_at_the_clock_is_asked_each_time() {
    let access = policy("package mcp\nallow if time.now_ns() % 2000 < 1000\n", "");
    let caller = Caller::default();
    let paid = tool("paid", &[], "GET");
    // The clock moves on between any two of these: both answers come up.
    let allowed = (0..500).filter(|_| access.decide(&caller, &paid) == Decision::Allow).count();
    assert!(allowed > 0 && allowed < 500, "{allowed}");
}

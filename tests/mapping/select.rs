use super::mapping;
use rest_mcp::mapping::{Facts, Match, glob, path_glob};
use serde_json::{Map, Value, json};

#[test]
fn globs_over_names() {
    for (pattern, text, wanted) in [
        ("find*", "findPets", true),
        ("find*", "find", true),
        ("*Pet*", "updatePetById", true),
        ("a*b*c", "axxbyyc", true),
        ("a*b*c", "axxbyy", false),
        ("", "", true),
        ("", "a", false),
        ("*", "", true),
        ("getPet", "getpet", false),
        ("*ü", "Zü", true),
    ] {
        assert_eq!(glob(pattern, text), wanted, "{pattern} {text}");
    }
    // Time is bounded: a pattern of many stars against a text that almost fits.
    assert!(!glob(&"a*".repeat(200), &"a".repeat(199)));
    assert!(!glob(&format!("{}b", "*a".repeat(100)), &"a".repeat(5000)));
}

#[test]
fn globs_over_paths() {
    for (pattern, path, wanted) in [
        ("/pet/**", "/pet/{petId}", true),
        ("/pet/**", "/pet", true),
        ("/pet/**", "/pet/{petId}/photo", true),
        ("/pet/**", "/pets", false),
        ("/pet/*", "/pet/{petId}", true),
        ("/pet/*", "/pet/{petId}/photo", false),
        ("/pet/*", "/pet", false),
        ("/*/photo", "/pet/photo", true),
        ("**/photo", "/a/b/photo", true),
        ("/**/photo", "/photo", true),
        ("/pet/{petId}", "/pet/{petId}", true),
        ("/pet/find*", "/pet/findByStatus", true),
        ("/**/b/**/d", "/a/b/c/b/d", true),
        ("/**/b/**/d", "/a/c/d", false),
        ("/", "/", true),
    ] {
        assert_eq!(path_glob(pattern, path), wanted, "{pattern} {path}");
    }
}

fn condition(text: &str) -> Match {
    let text =
        format!("version: 1\nsources: {{ pets: {{ spec: a }} }}\nrules: [ {{ match: {text}, exclude: true }} ]\n");
    mapping(&text).rules.remove(0).matches
}

#[test]
fn kinds_of_conditions_are_all_needed_and_values_of_one_are_choices() {
    let extensions: Map<String, Value> =
        json!({"x-internal": true, "x-teams": ["a", "b"], "x-level": 3}).as_object().unwrap().clone();
    let tags = ["pet".to_owned(), "admin".to_owned()];
    let facts = Facts {
        source: "pets",
        method: "DELETE",
        path: "/pet/{petId}",
        tags: &tags,
        operation_id: Some("deletePet"),
        deprecated: false,
        security: &["api_key"],
        extensions: &extensions,
    };
    for (text, wanted) in [
        ("{}", true),
        ("{ method: delete }", true),
        ("{ method: [GET, DELETE] }", true),
        ("{ method: GET }", false),
        ("{ tag: admin, method: GET }", false),
        ("{ tag: [store, admin] }", true),
        ("{ tag: Admin }", false),
        ("{ operation: 'delete*' }", true),
        ("{ operation: ['get*', 'find*'] }", false),
        ("{ path: /pet/** }", true),
        ("{ path: [/store/**, /owner/*] }", false),
        ("{ deprecated: false }", true),
        ("{ deprecated: true }", false),
        ("{ security: [oauth, api_key] }", true),
        ("{ security: oauth }", false),
        ("{ source: pets }", true),
        ("{ x-internal: true }", true),
        ("{ x-internal: false }", false),
        ("{ x-beta: false }", true),
        ("{ x-beta: true }", false),
        ("{ x-teams: a }", true),
        ("{ x-teams: [c, b] }", true),
        ("{ x-teams: c }", false),
        ("{ x-level: [1, 3] }", true),
    ] {
        assert_eq!(condition(text).matches(&facts), wanted, "{text}");
    }
    let reason = condition("{ tag: [x, admin], method: delete, x-internal: true }");
    assert_eq!(reason.compile().why(&facts).as_deref(), Some("method delete, tag admin, x-internal true"));
    assert_eq!(condition("{}").compile().why(&facts).as_deref(), Some("every operation"));
    let untagged = Facts { tags: &[], operation_id: None, ..facts };
    assert!(!condition("{ tag: admin }").matches(&untagged));
    assert!(!condition("{ operation: '*' }").matches(&untagged));
    assert!(condition("{ method: DELETE }").matches(&untagged));
}

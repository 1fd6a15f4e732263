//! The server checklist drawn up from the specification texts: each of its 85 rows has a test named for its number
//! (`row_NN_…`), is held by the test named here, or does not apply for the reason given here.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

const ROWS: std::ops::RangeInclusive<u32> = 1..=85;

/// Rows that tests of other parts hold: row, file and test.
const ELSEWHERE: &[(u32, &str, &str)] = &[
    // cacheScope is no access control: every call is decided anew.
    (25, "sidecar/callers.rs", "lists_and_calls_agree"),
    (25, "sidecar/callers.rs", "lists_are_private_where_callers_differ"),
    // structuredContent conforms to outputSchema, and is mirrored as text.
    (28, "content/schemas.rs", "what_comes_out_conforms_to_what_is_published"),
    (28, "schema/random.rs", "what_conform_gives_satisfies_the_relaxed_schema"),
    (29, "content/bodies.rs", "json_is_text_and_structured_with_the_apis_own_bytes"),
    // JSON Schema 2020-12, valid in its dialect; nothing fetched; bounded.
    (30, "openapi/dialect.rs", "keywords_of_3_0_become_those_of_2020_12"),
    (30, "openapi/dialect.rs", "older_drafts_and_what_people_write_become_valid"),
    (30, "schema/random.rs", "the_published_schema_is_sound_loses_no_name_and_allows_what_the_full_one_allows"),
    (31, "schema/check.rs", "nothing_outside_the_schema_is_fetched"),
    (31, "document/remote.rs", "references_stay_on_the_server_of_the_root"),
    (32, "openapi/dialect.rs", "hostile_nesting_and_fan_out_end_in_time"),
    (32, "schema/profile.rs", "inlining_that_doubles_at_each_step_is_bounded"),
    (33, "schema/random.rs", "names_are_legal_unique_and_independent_of_order"),
    // Inputs, access, rates, outputs.
    (36, "schema/check.rs", "each_keyword_says_where_what_was_expected_and_what_came"),
    (36, "sidecar/callers.rs", "what_a_tenant_may_not_call_looks_unknown"),
    (36, "sidecar/callers.rs", "each_tenant_calls_with_its_own_credential_and_no_oftener_than_it_may"),
    (36, "schema/names.rs", "invisible_and_direction_changing_characters_go"),
    (47, "sidecar/kinds.rs", "no_secret_of_any_kind_comes_out_anywhere"),
    // requestState is bound to caller, time and request.
    (53, "sidecar/replicas.rs", "an_elicitation_begun_on_one_replica_ends_on_the_other"),
    (53, "sidecar/replicas.rs", "without_a_shared_key_the_other_replica_believes_nothing"),
    (54, "protocol/checklist.rs", "row_54_a_form_that_asks_for_a_secret_is_refused_at_load"),
    (58, "sidecar/settings.rs", "an_address_that_others_reach_needs_access_rules"),
    (72, "protocol/checklist.rs", "row_72_a_mark_that_can_be_no_header_is_refused_at_load"),
    // OAuth resource server.
    (75, "access/identity.rs", "the_metadata_document_is_where_and_what_the_standard_says"),
    (76, "access/identity.rs", "every_wrong_credential_gets_the_same_challenge"),
    (76, "sidecar/callers.rs", "the_metadata_document_is_served_to_everybody"),
    (78, "access/jwt.rs", "wrong_claims_are_refused"),
    (79, "access/rules.rs", "missing_scopes_are_named_but_not_of_hidden_tools"),
];

/// Rows that do not apply.
const NOT_APPLICABLE: &[(u32, &str)] = &[
    (20, "a configuration of the modern era alone: there is none, both eras are always served"),
    (80, "scope hierarchies: a rule names the scopes that a token must carry; there are no broader ones to know of"),
    (81, "offline_access: the scopes that are published are the author's own, and none is added"),
    (82, "OAuth on stdio: credentials of stdio come from the environment; no identity is asked for there"),
    (85, "nothing deprecated newly adopted: a decision; logging and HTTP+SSE are for peers that have nothing else"),
];

/// Texts of all test files, by path below `tests`.
fn sources() -> BTreeMap<String, String> {
    fn read(folder: &Path, root: &Path, all: &mut BTreeMap<String, String>) {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                read(&path, root, all);
            } else if path.extension().is_some_and(|end| end == "rs") {
                let name = path.strip_prefix(root).unwrap().to_str().unwrap().to_owned();
                all.insert(name, std::fs::read_to_string(&path).unwrap());
            }
        }
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests");
    let mut all = BTreeMap::new();
    read(&root, &root, &mut all);
    all
}

/// `row_15_16_and_24_every_…` names 15, 16 and 24.
fn numbers(name: &str) -> impl Iterator<Item = u32> {
    name.split('_').skip(1).filter(|part| *part != "and").map_while(|part| part.parse().ok())
}

#[test]
fn every_row_has_its_test_or_its_reason() {
    let sources = sources();
    let mut covered = BTreeSet::new();
    for text in sources.values() {
        for rest in text.split("fn row_").skip(1) {
            let name = format!("row_{}", rest.split('(').next().unwrap());
            covered.extend(numbers(&name));
        }
    }
    for (row, file, test) in ELSEWHERE {
        let text = sources.get(*file).unwrap_or_else(|| panic!("row {row}: no tests/{file}"));
        assert!(text.contains(test), "row {row}: tests/{file} has no `{test}`");
        covered.insert(*row);
    }
    for (row, _) in NOT_APPLICABLE {
        assert!(covered.insert(*row), "row {row} has a test and a reason for none");
    }
    let all: BTreeSet<u32> = ROWS.collect();
    assert_eq!(covered, all, "missing: {:?}", all.difference(&covered).collect::<Vec<_>>());
}

#[test]
fn the_rows_are_those_of_the_checklist() {
    let shared = std::env::var_os("REST_MCP_SHARED").map(std::path::PathBuf::from);
    let shared = shared.unwrap_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared"));
    // A newcomer's checkout has no list beside it.
    let Ok(digest) = std::fs::read_to_string(shared.join("protocol/digest.md")) else { return };
    let list = digest.split("## 16. Server checklist").nth(1).unwrap();
    let rows: Vec<u32> =
        list.lines().filter_map(|line| line.strip_prefix("| ")?.split(" |").next()?.trim().parse().ok()).collect();
    assert_eq!(rows, ROWS.collect::<Vec<_>>());
}

/// What people get for a mapping with one tool.
fn refused(tool: &str) -> String {
    let text = format!("version: 1\nsources: {{ pets: {{ spec: pets.yaml }} }}\ntools:\n  adopt: {tool}\n");
    let source = std::sync::Arc::new(rest_mcp::diagnostic::Source { name: "mapping.yaml".to_owned(), text });
    let limits = rest_mcp::document::Limits::default();
    let (document, mut report) = rest_mcp::document::parse(source, "mapping.yaml".to_owned(), &limits);
    report.merge(rest_mcp::mapping::read(&document.unwrap()).1);
    assert!(report.has_errors(), "{tool} is accepted");
    report.render(false)
}

#[test]
fn row_54_a_form_that_asks_for_a_secret_is_refused_at_load() {
    for property in
        ["pin: { type: string, format: password }", "password: { type: string }", "api_key: { type: string }"]
    {
        let form = format!("{{ type: object, properties: {{ {property} }} }}");
        let text = refused(&format!("{{ ask: {{ who: {{ message: Who?, schema: {form} }} }} }}"));
        assert!(text.contains("secret-in-form"), "{text}");
    }
}

#[test]
fn row_72_a_mark_that_can_be_no_header_is_refused_at_load() {
    for mark in ["\"a b\"", "\"\"", "\"a:b\"", "\"Ä\""] {
        let text = refused(&format!("{{ args: {{ region: {{ mirror: {mark} }} }} }}"));
        assert!(text.contains("can't end a header's name"), "{text}");
    }
}

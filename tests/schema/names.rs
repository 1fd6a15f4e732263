//! Tool names, annotations and descriptions.

use rest_mcp::catalog::hints::{annotations, cut_at_word, describe, estimated_tokens, sanitized};
use rest_mcp::catalog::name::{NameCandidate, look_alikes, tool_names};
use rest_mcp::mapping::{DescriptionFrom, NameStyle};

fn op(id: &str, method: &str, path: &str) -> NameCandidate {
    let operation_id = if id == "-" { None } else { Some(id.to_string()) };
    NameCandidate { operation_id, method: method.to_string(), path: path.to_string(), ..NameCandidate::default() }
}

fn names(candidates: &[NameCandidate], style: NameStyle) -> Vec<String> {
    tool_names(candidates, style, 64)
}

#[test]
fn names_from_operation_ids_and_paths() {
    let table = [
        (op("getPetById", "GET", "/pet/{petId}"), "getPetById", "get_pet_by_id"),
        (op("_odd-but-legal_", "GET", "/x"), "_odd-but-legal_", "odd_but_legal"),
        (op("repos/list.for user", "GET", "/x"), "repos_list_for_user", "repos_list_for_user"),
        (op("GET:/patterns/names", "GET", "/x"), "GET_patterns_names", "get_patterns_names"),
        (op("HTTPServerV2List", "GET", "/x"), "HTTPServerV2List", "http_server_v2_list"),
        (op("-", "GET", "/pet/{petId}"), "get_pet_by_petId", "get_pet_by_pet_id"),
        (op("", "POST", "/users/{id}/posts"), "post_users_by_id_posts", "post_users_by_id_posts"),
        (op("-", "GET", "/"), "get_root", "get_root"),
        (op("日本語", "DELETE", "/a/{b}.json"), "delete_a_by_b_json", "delete_a_by_b_json"),
    ];
    for (candidate, keep, snake) in table {
        assert_eq!(names(std::slice::from_ref(&candidate), NameStyle::Keep), [keep]);
        assert_eq!(names(std::slice::from_ref(&candidate), NameStyle::Snake), [snake]);
    }
}

#[test]
fn the_prefix_is_for_automatic_names_only() {
    let candidate = NameCandidate { prefix: "shop_".into(), ..op("list", "GET", "/x") };
    let wanted = NameCandidate { wanted: Some("find_pets".into()), ..candidate.clone() };
    assert_eq!(names(&[candidate, wanted], NameStyle::Keep), ["shop_list", "find_pets"]);
}

#[test]
fn a_long_name_is_cut_between_words_with_a_tail_of_its_own() {
    let long = "listOrganizationRepositoriesWithPendingInvitationsForTheAuthenticatedUserAndTeam";
    let other = "listOrganizationRepositoriesWithPendingInvitationsForTheAuthenticatedUserAndApps";
    let made = names(&[op(long, "GET", "/a"), op(other, "GET", "/b")], NameStyle::Keep);
    for name in &made {
        assert!(name.len() <= 64, "{name}");
        let (head, tail) = name.rsplit_once('_').expect("a tail");
        assert!(tail.len() >= 6 && tail.bytes().all(|b| b.is_ascii_hexdigit()), "{name}");
        assert!(long.starts_with(head), "{head}");
        assert!(long[head.len()..].starts_with(|c: char| c.is_ascii_uppercase()), "cut inside a word: {head}");
    }
    assert_ne!(made[0], made[1]);
    assert_eq!(names(&[op(long, "GET", "/a")], NameStyle::Keep)[0], made[0]);
}

#[test]
fn duplicates_are_told_apart_by_their_own_operation_not_by_order() {
    let mut candidates = vec![op("list", "GET", "/users"), op("list", "GET", "/pets"), op("get", "GET", "/x")];
    let made = names(&candidates, NameStyle::Keep);
    assert_eq!(made, ["list_get_users", "list_get_pets", "get"]);
    candidates.reverse();
    let mut reversed = names(&candidates, NameStyle::Keep);
    reversed.reverse();
    assert_eq!(reversed, made);
    candidates.push(op("list", "GET", "/orders"));
    let more = names(&candidates, NameStyle::Keep);
    assert_eq!(more, ["get", "list_get_pets", "list_get_users", "list_get_orders"]);
}

#[test]
fn an_operation_id_that_is_the_name_keeps_it_against_one_that_became_it() {
    let made = names(&[op("a.b", "GET", "/x"), op("a_b", "GET", "/y")], NameStyle::Keep);
    assert_eq!(made, ["a_b_get_x", "a_b"]);
}

#[test]
fn the_tail_that_keeps_duplicates_apart_fits_into_the_limit() {
    let long = "x".repeat(64);
    let path = format!("/{}", "y".repeat(80));
    let candidates: Vec<_> = (0..20)
        .map(|n| op(&long, "GET", &format!("{path}{n}")))
        .chain((0..3).map(|_| op(&long, "GET", "/same")))
        .collect();
    for max in [1, 8, 12, 64, 1000] {
        let made = tool_names(&candidates, NameStyle::Keep, max);
        let limit = max.clamp(8, 64);
        assert!(made.iter().all(|name| !name.is_empty() && name.len() <= limit), "{made:?}");
        let mut unique = made.clone();
        unique.sort();
        unique.dedup();
        assert_eq!(unique.len(), made.len(), "{made:?}");
    }
}

#[test]
fn look_alikes_are_found() {
    assert_eq!(look_alikes(&["getPet", "list", "get_pet", "GETPET"]), [(0, 2), (0, 3)]);
}

#[test]
fn annotations_follow_safety_and_idempotence_of_the_method() {
    // (method, read only, destructive, idempotent), RFC 9110 §9.2.1 and §9.2.2.
    let table = [
        ("GET", true, false, true),
        ("HEAD", true, false, true),
        ("OPTIONS", true, false, true),
        ("QUERY", true, false, true),
        ("POST", false, false, false),
        ("PUT", false, true, true),
        ("DELETE", false, true, true),
        ("PATCH", false, true, false),
        ("PURGE", false, false, false),
    ];
    for (method, read_only, destructive, idempotent) in table {
        let hints = annotations(method);
        assert_eq!(
            (hints.read_only, hints.destructive, hints.idempotent),
            (read_only, destructive, idempotent),
            "{method}"
        );
        assert!(hints.open_world);
    }
}

#[test]
fn descriptions_are_never_empty_and_say_nothing_twice() {
    let table: [(Option<&str>, Option<&str>, &str); 6] = [
        (Some("Find a pet"), Some("Looks it up by number."), "Find a pet\n\nLooks it up by number."),
        (Some("Find a pet."), Some("Find a pet"), "Find a pet."),
        (Some("Find a pet"), Some("Find a pet by number."), "Find a pet by number."),
        (None, None, "GET /pet/{petId}"),
        (Some("  "), Some("\n"), "GET /pet/{petId}"),
        (None, Some("One."), "One."),
    ];
    for (summary, description, expected) in table {
        assert_eq!(describe(summary, description, "GET", "/pet/{petId}", None, &[]), expected);
    }
}

#[test]
fn declared_errors_are_one_short_line() {
    let errors = [("404".to_string(), "No such pet.\nMore.".to_string()), ("409".to_string(), String::new())];
    assert_eq!(describe(Some("Find"), None, "GET", "/x", None, &errors), "Find\n\nErrors: 404 No such pet");
    assert_eq!(describe(None, None, "GET", "/x", None, &errors), "GET /x\n\nErrors: 404 No such pet");
    let only = DescriptionFrom { from: vec!["description".into()], ..DescriptionFrom::default() };
    assert_eq!(describe(Some("S"), Some("D"), "GET", "/x", Some(&only), &errors), "D");
}

#[test]
fn what_the_author_appends_survives_the_cut() {
    let from = DescriptionFrom { append: Some("Ask first.".into()), max_chars: Some(40), ..DescriptionFrom::default() };
    let text = describe(Some("S"), Some(&"word ".repeat(50)), "GET", "/x", Some(&from), &[]);
    assert!(text.ends_with("Ask first.") && text.chars().count() <= 40, "{text}");
}

#[test]
fn invisible_and_direction_changing_characters_go() {
    assert_eq!(sanitized("a\u{202e}b\u{200b}c\u{7}\u{e0041}\u{1b}[31m"), "abc[31m");
    assert_eq!(sanitized("a  \n\n\n\nb\r\n"), "a\n\nb");
}

#[test]
fn texts_are_cut_between_words() {
    assert_eq!(cut_at_word("one two three", 8), "one two…");
    assert_eq!(cut_at_word("one two", 7), "one two");
    assert_eq!(cut_at_word("unbreakable", 5), "unbr…");
    assert_eq!(estimated_tokens(4001), 1001);
}

#[test]
fn errors_that_say_no_more_than_their_status_are_not_told() {
    let errors =
        [("404", "Not Found"), ("401", "Requires authentication"), ("403", "forbidden."), ("409", "Name taken")];
    let errors = errors.map(|(status, text)| (status.to_owned(), text.to_owned()));
    assert_eq!(describe(Some("Find"), None, "GET", "/x", None, &errors), "Find\n\nErrors: 409 Name taken");
    assert_eq!(describe(Some("Find"), None, "GET", "/x", None, &errors[..3]), "Find");
}

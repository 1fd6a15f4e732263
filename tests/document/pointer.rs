//! RFC 6901; the table of section 5 and section 6.

use rest_mcp::document::pointer::{child, escape, from_fragment, get, join, last, parent, parse, unescape};
use serde_json::json;

#[test]
fn the_examples_of_rfc_6901() {
    let document = json!({
        "foo": ["bar", "baz"], "": 0, "a/b": 1, "c%d": 2, "e^f": 3, "g|h": 4, "i\\j": 5, "k\"l": 6, " ": 7, "m~n": 8
    });
    let table = [
        ("", "", document.clone()),
        ("/foo", "/foo", json!(["bar", "baz"])),
        ("/foo/0", "/foo/0", json!("bar")),
        ("/", "/", json!(0)),
        ("/a~1b", "/a~1b", json!(1)),
        ("/c%d", "/c%25d", json!(2)),
        ("/e^f", "/e%5Ef", json!(3)),
        ("/g|h", "/g%7Ch", json!(4)),
        ("/i\\j", "/i%5Cj", json!(5)),
        ("/k\"l", "/k%22l", json!(6)),
        ("/ ", "/%20", json!(7)),
        ("/m~0n", "/m~0n", json!(8)),
    ];
    for (pointer, fragment, value) in table {
        assert_eq!(get(&document, pointer), Some(&value), "{pointer}");
        assert_eq!(from_fragment(fragment).as_deref(), Some(pointer), "{fragment}");
    }
}

#[test]
fn what_is_no_index_names_no_item() {
    let list = json!([1, 2]);
    for name in ["01", "-", "-1", "+1", "2", "", "1e0", " 1"] {
        assert_eq!(child(&list, name), None, "{name:?}");
    }
    assert_eq!(get(&list, "0"), None);
    assert_eq!(get(&json!(1), "/0"), None);
}

#[test]
fn tilde_one_is_undone_before_tilde_zero() {
    assert_eq!(unescape("~01"), "~1");
    assert_eq!(escape("~1/"), "~01~1");
    assert_eq!(parse("/a~1b/~01").unwrap(), ["a/b", "~1"]);
    assert_eq!(parse("a"), None);
}

#[test]
fn pointers_are_built_and_taken_apart() {
    assert_eq!(join("/paths", "/pet/{id}"), "/paths/~1pet~1{id}");
    assert_eq!(parent("/paths/~1a/get"), Some("/paths/~1a"));
    assert_eq!(last("/paths/~1a").as_deref(), Some("/a"));
    assert_eq!((parent(""), last("")), (None, None));
    assert_eq!(from_fragment("%ff"), None);
}

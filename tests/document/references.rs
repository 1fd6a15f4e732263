//! What `$ref`s mean (RFC 3986, OpenAPI 3.2 "Relative References", JSON Schema 2020-12 section 8).

use rest_mcp::diagnostic::Source;
use rest_mcp::document::{DocumentSet, Limits, RefError, external_references, location, parse};
use std::sync::Arc;

fn set(files: &[(&str, &str)]) -> DocumentSet {
    let parsed = files.iter().map(|(location, text)| {
        let (document, report) = parse(Source::new(*location, *text), (*location).to_owned(), &Limits::default());
        Arc::new(document.unwrap_or_else(|| panic!("{}", report.render(false))))
    });
    DocumentSet::new(parsed.collect())
}

/// `document pointer` of a target.
fn target(set: &DocumentSet, from: usize, reference: &str) -> String {
    match set.resolve(from, reference) {
        Ok(target) => format!("{} {}", target.document, target.pointer),
        Err(error) => format!("{error}"),
    }
}

#[test]
fn pointers_files_and_urls() {
    let set = set(&[
        ("/api/spec/root.yaml", "paths: {'/{id}': {get: 1}}\ncomponents: {schemas: {A B: 1, 100%: 2, 'a%20b': 3}}\n"),
        ("/api/spec/sub/pet.yaml", "Pet: {type: object}\n"),
        ("/api/common/with space.json", "{\"x\": [10, 20]}"),
        ("https://example.com/a/b.yaml", "B: 1\n"),
    ]);
    let table = [
        (0, "#", "0 "),
        (0, "", "0 "),
        (0, "#/components/schemas/A%20B", "0 /components/schemas/A B"),
        (0, "#/components/schemas/A B", "0 /components/schemas/A B"),
        (0, "#/components/schemas/100%", "0 /components/schemas/100%"),
        (0, "#/components/schemas/a%20b", "0 /components/schemas/a%20b"),
        (0, "#/components/schemas/a%2520b", "0 /components/schemas/a%20b"),
        (0, "#/paths/~1%7Bid%7D/get", "0 /paths/~1{id}/get"),
        (0, "#components/schemas/A B", "0 /components/schemas/A B"),
        (0, "./sub/pet.yaml#/Pet", "1 /Pet"),
        (0, "sub/pet.yaml", "1 "),
        // By the letter a member with the empty name; there is none.
        (0, "sub/pet.yaml#/", "1 "),
        (0, "sub\\pet.yaml#/Pet", "1 /Pet"),
        (0, "root.yaml#/paths", "0 /paths"),
        (1, "../root.yaml#/paths", "0 /paths"),
        (1, "pet.yaml#/Pet/type", "1 /Pet/type"),
        (0, "../common/with%20space.json#/x/1", "2 /x/1"),
        (0, "../common/with space.json#/x/1", "2 /x/1"),
        (0, "file:///api/spec/sub/pet.yaml#/Pet", "1 /Pet"),
        (0, "https://example.com/a/b.yaml#/B", "3 /B"),
        (0, "https://EXAMPLE.com:443/a/../a/b.yaml#/B", "3 /B"),
        (3, "./b.yaml#/B", "3 /B"),
        (3, "/a/b.yaml", "3 "),
    ];
    for (from, reference, expected) in table {
        assert_eq!(target(&set, from, reference), expected, "{reference} from {from}");
    }
}

#[test]
fn failures_say_what_is_not_there_and_what_is() {
    let mut set = set(&[("/d/root.yaml", "components:\n  schemas:\n    Pet: {}\n    Owner: {$anchor: owner}\n")]);
    set.missing.insert("/d/x.yaml".to_owned(), "there is no such file".to_owned());
    let error = set.resolve(0, "#/components/schemas/Pett").unwrap_err();
    assert_eq!(error.fix().as_deref(), Some("did you mean `Pet`?"));
    assert_eq!(error.to_string(), "`#/components/schemas/Pett` leads nowhere: `/components/schemas` has no `Pett`");
    let error = set.resolve(0, "#/component/schemas/Pet").unwrap_err();
    assert_eq!(error.fix().as_deref(), Some("did you mean `components`?"));
    assert_eq!(set.resolve(0, "#ownr").unwrap_err().fix().as_deref(), Some("did you mean `owner`?"));
    assert_eq!(
        set.resolve(0, "./x.yaml#/a").unwrap_err().to_string(),
        "`./x.yaml#/a` was not loaded: there is no such file"
    );
    assert!(matches!(set.resolve(0, "y.yaml"), Err(RefError::NotLoaded { reason: None, .. })));
    assert!(matches!(set.resolve(0, "https://"), Err(RefError::Malformed { .. })));
    assert!(matches!(set.resolve(0, "#/%ff"), Err(RefError::Malformed { .. })));
    assert_eq!(set.resolve_value(0, &serde_json::json!(5)), Err(RefError::NotAString));
    assert!(set.resolve(7, "#/x").is_err());
    let error = set.resolve(0, "https://user:secret@h/x?token=abc#/y").unwrap_err().to_string();
    assert!(!error.contains("secret") && !error.contains("abc"), "{error}");
}

#[test]
fn anchors_and_ids_of_json_schema() {
    let text = "\
openapi: 3.1.0
components:
  schemas:
    Tree:
      $id: https://example.com/schemas/tree
      $dynamicAnchor: node
      $defs:
        leaf: {$anchor: leaf}
        nested: {$id: nested.json, $defs: {deep: {$anchor: leaf}}}
    Plain: {$anchor: plain}
    Relative: {$id: sub/folder/}
";
    let set = set(&[("/d/root.yaml", text), ("/d/other.json", "{\"$defs\": {\"U\": {\"$anchor\": \"user\"}}}")]);
    let tree = "/components/schemas/Tree";
    let at = |at: &str, reference: &str| set.resolve_at(0, at, reference).map(|target| target.pointer);
    assert_eq!(target(&set, 0, "#plain"), "0 /components/schemas/Plain");
    assert_eq!(target(&set, 0, "#node"), format!("0 {tree}"));
    assert_eq!(target(&set, 0, "other.json#user"), "1 /$defs/U");
    assert_eq!(target(&set, 0, "https://example.com/schemas/tree#leaf"), format!("0 {tree}/$defs/leaf"));
    assert_eq!(target(&set, 1, "https://example.com/schemas/nested.json"), format!("0 {tree}/$defs/nested"));
    // Inside a schema with an `$id`, that is the base.
    assert_eq!(at(&format!("{tree}/$defs/leaf"), "#leaf"), Ok(format!("{tree}/$defs/leaf")));
    assert_eq!(at(&format!("{tree}/$defs/nested"), "#leaf"), Ok(format!("{tree}/$defs/nested/$defs/deep")));
    assert_eq!(at(&format!("{tree}/$defs/leaf"), "#/$defs/leaf"), Ok(format!("{tree}/$defs/leaf")));
    assert_eq!(at(tree, "nested.json"), Ok(format!("{tree}/$defs/nested")));
    assert_eq!(at("/components/schemas/Plain", "#/components"), Ok("/components".to_owned()));
    // Without a position the document comes first, then the schemas.
    assert_eq!(target(&set, 0, "#/$defs/leaf"), format!("0 {tree}/$defs/leaf"));
}

#[test]
fn self_of_openapi_3_2_names_the_document() {
    let set = set(&[
        ("/d/root.yaml", "openapi: 3.2.0\n$self: https://example.com/api/root\npaths: {}\n"),
        ("/d/shared.yaml", "$self: /api/shared\nA: 1\n"),
        ("/d/third.yaml", "$self: https://example.com/api/third\nC: 1\n"),
    ]);
    assert_eq!(target(&set, 1, "https://example.com/api/root#/paths"), "0 /paths");
    assert_eq!(target(&set, 0, "third#/C"), "2 /C");
    // The folder it lies in still works.
    assert_eq!(target(&set, 0, "./shared.yaml#/A"), "1 /A");
    assert_eq!(set.find("https://example.com/api/third"), Some(2));
}

fn external(text: &str) -> Vec<String> {
    let set = set(&[("/d/root.yaml", text)]);
    external_references(&set.documents[0]).into_iter().map(|(location, at)| format!("{location} {at}")).collect()
}

#[test]
fn references_are_collected_where_they_are_references() {
    let text = "\
openapi: 3.1.0
paths:
  /a:
    $ref: paths/a.yaml#/x
  /b:
    get:
      parameters:
        - $ref: 'p.yaml'
      responses:
        default:
          $ref: default.yaml
        '200':
          content:
            application/json:
              schema: {$ref: '#/components/schemas/Local'}
              example: {$ref: no1.yaml}
              examples:
                one: {$ref: example.yaml}
                two: {value: {$ref: no2.yaml}}
components:
  schemas:
    default: {$ref: schema-default.yaml}
    Local:
      type: object
      default: {$ref: no3.yaml}
      enum: [{$ref: no4.yaml}]
      const: {$ref: no5.yaml}
      examples: [{$ref: no6.yaml}]
      externalValue: no7.yaml
      properties:
        $ref: {type: string}
        example: {$ref: property-example.yaml}
      discriminator:
        propertyName: kind
        mapping: {dog: dog.yaml, cat: Cat, cow: '#/components/schemas/Cow'}
x-ms-examples:
  one: {$ref: no8.yaml}
";
    assert_eq!(
        external(text),
        [
            "/d/paths/a.yaml /paths/~1a/$ref",
            "/d/p.yaml /paths/~1b/get/parameters/0/$ref",
            "/d/default.yaml /paths/~1b/get/responses/default/$ref",
            "/d/example.yaml /paths/~1b/get/responses/200/content/application~1json/examples/one/$ref",
            "/d/schema-default.yaml /components/schemas/default/$ref",
            "/d/dog.yaml /components/schemas/Local/discriminator/mapping/dog",
            "/d/property-example.yaml /components/schemas/Local/properties/example/$ref",
        ]
    );
}

#[test]
fn a_reference_is_found_however_it_is_spelled() {
    let inside = r##"{"openapi": "3.1.0", "a": {"$ref": "#/b"}, "b": {"description": "mapping and $ref"}}"##;
    let no: [&str; 0] = [];
    let map =
        |entries: &str| format!(r#"{{"openapi": "3.1.0", "a": {{"discriminator": {{"mapping": {{{entries}}}}}}}}}"#);
    let maps = [
        map("\"x\": \"#/a\",\n\"y\" :\t\"#/b\""),
        map("\"x,\": \"#/a\", \"}\": \"y.yaml\""),
        map("\"x\": \"#/a\", \"y\": \"./y.yaml\""),
    ];
    let table: [(&str, &[&str]); 12] = [
        (inside, &no),
        (&maps[0], &no),
        (&maps[1], &["/d/y.yaml /a/discriminator/mapping/}"]),
        (&maps[2], &["/d/y.yaml /a/discriminator/mapping/y"]),
        (r#"{"openapi": "3.1.0", "a": {"\u0024ref": "a.yaml"}}"#, &["/d/a.yaml /a/$ref"]),
        (r#"{"openapi": "3.1.0", "a": {"$r\u0065f" : "a.yaml"}}"#, &["/d/a.yaml /a/$ref"]),
        ("{\"openapi\": \"3.1.0\", \"a\": {\"$ref\"\n\t:\r\n\"a.yaml\"}}", &["/d/a.yaml /a/$ref"]),
        (
            r#"{"openapi": "3.1.0", "a": {"discriminator": {"m\u0061pping": {"x": "x.yaml"}}}}"#,
            &["/d/x.yaml /a/discriminator/mapping/x"],
        ),
        ("openapi: 3.1.0\na: {\"\\x24ref\": a.yaml}\n", &["/d/a.yaml /a/$ref"]),
        // A comment, and the value behind it.
        ("openapi: 3.1.0\na:\n  $ref: #/b\n    a.yaml\n", &["/d/a.yaml /a/$ref"]),
        ("openapi: 3.1.0\na: {'$ref': \"#/b\"}\nc:\n  ? $ref\n  : c.yaml\n", &["/d/c.yaml /c/$ref"]),
        (
            "openapi: 3.1.0\na:\n  $ref: >-\n    a.yaml\nb: {$ref: &here b.yaml}\n",
            &["/d/a.yaml /a/$ref", "/d/b.yaml /b/$ref"],
        ),
    ];
    for (text, expected) in table {
        assert_eq!(external(text), expected, "{text}");
    }
}

#[test]
fn a_file_of_fragments_is_looked_through_too() {
    assert_eq!(
        external("Pet: {$ref: Pet.yaml}\ndefault: {$ref: Default.yaml}\n"),
        ["/d/Pet.yaml /Pet/$ref", "/d/Default.yaml /default/$ref"]
    );
    assert_eq!(
        external("type: object\nproperties: {a: {$ref: A.yaml}}\nexample: {$ref: no.yaml}\n"),
        ["/d/A.yaml /properties/a/$ref"]
    );
    assert_eq!(external("$ref: X.yaml\n"), ["/d/X.yaml /$ref"]);
    assert_eq!(
        external("openapi: 3.1.0\nx-defs: {a: {$ref: a.yaml}}\nb: {$ref: '#/x-defs/a'}\n"),
        ["/d/a.yaml /x-defs/a/$ref"]
    );
}

#[test]
fn locations_are_resolved_and_shown_without_secrets() {
    let table = [
        ("/a/b.yaml", "../../../x.yaml", Some("/x.yaml")),
        ("/a/b.yaml", "./c/./d.yaml?v=1", Some("/a/c/d.yaml")),
        ("/a/$dir/b.yaml", "c%23d.yaml", Some("/a/$dir/c#d.yaml")),
        ("b.yaml", "c.yaml", Some("c.yaml")),
        ("https://h/a/b.yaml?x=1", "c.yaml", Some("https://h/a/c.yaml")),
        ("https://h/a/b.yaml", "//other/c.yaml", Some("https://other/c.yaml")),
        ("https://h/a/b.yaml", "https://u:p@h/c", Some("https://h/c")),
        ("/a/b.yaml", "urn:example:x", Some("urn:example:x")),
        ("/a/b.yaml", "http://", None),
    ];
    for (base, file, expected) in table {
        assert_eq!(location::resolve(base, file).as_deref(), expected, "{file} from {base}");
    }
    let shown = [
        ("https://u:p@h/x?key=1#f", "https://h/x?..."),
        ("https://u:p@[bad/x?key=1", "https://[bad/x"),
        ("/a/b", "/a/b"),
    ];
    for (location, expected) in shown {
        assert_eq!(location::shown(location), expected);
    }
}

/// A long text is searched in steps; where one ends is no place to miss a word at.
#[test]
fn references_are_found_wherever_they_stand_in_a_long_text() {
    const STEP: usize = 1 << 18;
    for reference in [r#""$ref":"other.yaml""#, r#""\u0024ref":"other.yaml""#, r#""mapping":{"a":"other.yaml"}"#] {
        for at in (STEP - 24..=STEP + 1).chain([2 * STEP - 3]) {
            let head = r#"{"openapi":"3.1.0","info":{"description":""#;
            let tail = r#""},"components":{"schemas":{"A":{"discriminator":{"#;
            let mut text = format!("{head}{}{tail}", "x".repeat(at - head.len() - tail.len()));
            assert_eq!(text.len(), at);
            // Only below `discriminator` a mapping counts; a `$ref` counts there too.
            text.push_str(reference);
            text.push_str("}}}}}");
            assert_eq!(external(&text).len(), 1, "{reference} at {at}");
        }
    }
}

//! Schema Objects of every version, as JSON Schema 2020-12.

use super::support::{codes, read_body, read_text};
use rest_mcp::schema::Direction;
use serde_json::{Value, json};

/// The schema of the only parameter of a document of this version, bundled, and the report's codes.
fn convert(version: &str, schema: Value, components: Value) -> (Value, Vec<&'static str>) {
    let document = json!({
        "openapi": version, "info": { "title": "T", "version": "1" },
        "paths": { "/": { "get": { "parameters": [{ "name": "p", "in": "query", "schema": schema }] } } },
        "components": { "schemas": components },
    });
    let (api, report) = read_text(&document.to_string());
    let schema = &api.operations[0].parameters[0].schema;
    (api.definitions.bundle(schema, Direction::Output), codes(&report))
}

#[test]
fn keywords_of_3_0_become_those_of_2020_12() {
    let x = json!({ "X": { "type": "object" } });
    let cases = [
        ("nullable string", json!({"type": "string", "nullable": true}), json!({"type": ["string", "null"]})),
        (
            "nullable enum admits null",
            json!({"type": "string", "nullable": true, "enum": ["a"]}),
            json!({"type": ["string", "null"], "enum": ["a", null]}),
        ),
        ("nullable enum without type", json!({"nullable": true, "enum": ["a", null]}), json!({"enum": ["a", null]})),
        (
            "nullable beside $ref",
            json!({"$ref": "#/components/schemas/X", "nullable": true, "description": "d"}),
            json!({"description": "d", "anyOf": [{"$ref": "#/$defs/X"}, {"type": "null"}], "$defs": {"X": {"type": "object"}}}),
        ),
        (
            "nullable around allOf of one reference",
            json!({"nullable": true, "allOf": [{"$ref": "#/components/schemas/X"}]}),
            json!({"anyOf": [{"$ref": "#/$defs/X"}, {"type": "null"}], "$defs": {"X": {"type": "object"}}}),
        ),
        (
            "nullable oneOf is wrapped, since null may match a branch already",
            json!({"nullable": true, "oneOf": [{"type": "string"}, {"type": "integer"}]}),
            json!({"anyOf": [{"oneOf": [{"type": "string"}, {"type": "integer"}]}, {"type": "null"}]}),
        ),
        ("nullable: false says nothing", json!({"type": "string", "nullable": false}), json!({"type": "string"})),
        (
            "boolean exclusiveMinimum",
            json!({"type": "integer", "minimum": 1, "exclusiveMinimum": true, "maximum": 9, "exclusiveMaximum": false}),
            json!({"type": "integer", "maximum": 9, "exclusiveMinimum": 1}),
        ),
        ("example", json!({"type": "string", "example": "x"}), json!({"type": "string", "examples": ["x"]})),
        (
            "binary",
            json!({"type": "string", "format": "binary"}),
            json!({"type": "string", "format": "binary", "contentMediaType": "application/octet-stream"}),
        ),
        (
            "byte",
            json!({"type": "string", "format": "byte"}),
            json!({"type": "string", "format": "byte", "contentEncoding": "base64"}),
        ),
        (
            "what stands beside a $ref does not count, but for what describes",
            json!({"$ref": "#/components/schemas/X", "type": "string", "title": "t"}),
            json!({"$ref": "#/$defs/X", "title": "t", "$defs": {"X": {"type": "object"}}}),
        ),
        (
            "xml, externalDocs and extensions are not published",
            json!({"type": "string", "xml": {"name": "n"}, "externalDocs": {"url": "u"}, "x-y": 1}),
            json!({"type": "string"}),
        ),
        (
            "what is called like a keyword inside data or names is left alone",
            json!({"type": "object", "properties": {"xml": {"type": "string"}, "nullable": {"type": "string"}}, "default": {"nullable": true}}),
            json!({"type": "object", "properties": {"xml": {"type": "string"}, "nullable": {"type": "string"}}, "default": {"nullable": true}}),
        ),
    ];
    for (what, schema, expected) in cases {
        let (found, codes) = convert("3.0.3", schema, x.clone());
        assert_eq!(found, expected, "{what}");
        assert!(codes.is_empty(), "{what}: {codes:?}");
    }
}

#[test]
fn older_drafts_and_what_people_write_become_valid() {
    let cases = [
        (
            "tuple items",
            json!({"items": [{"type": "string"}], "additionalItems": false}),
            json!({"prefixItems": [{"type": "string"}], "items": false}),
            None,
        ),
        (
            "dependencies",
            json!({"dependencies": {"a": ["b"], "c": {"required": ["d"]}}}),
            json!({"dependentRequired": {"a": ["b"]}, "dependentSchemas": {"c": {"required": ["d"]}}}),
            None,
        ),
        (
            "a type that is none",
            json!({"type": "any", "description": "d"}),
            json!({"description": "d"}),
            Some("unknown-type"),
        ),
        ("a type misspelled", json!({"type": "int"}), json!({"type": "integer"}), Some("unknown-type")),
        (
            "type file",
            json!({"type": "file"}),
            json!({"type": "string", "format": "binary", "contentMediaType": "application/octet-stream"}),
            None,
        ),
        ("YAML's null type", json!({"type": ["string", null]}), json!({"type": ["string", "null"]}), None),
        (
            "required on the property",
            json!({"properties": {"a": {"type": "string", "required": true}}}),
            json!({"properties": {"a": {"type": "string"}}, "required": ["a"]}),
            Some("required-on-property"),
        ),
        ("required twice", json!({"required": ["a", "a"]}), json!({"required": ["a"]}), None),
        ("negative length", json!({"minLength": -1}), json!({}), Some("invalid-keyword")),
        ("length as text", json!({"maxLength": "5"}), json!({"maxLength": 5}), None),
        ("multipleOf zero", json!({"multipleOf": 0}), json!({}), Some("invalid-keyword")),
        ("empty enum", json!({"enum": []}), json!({}), Some("invalid-keyword")),
        ("empty allOf", json!({"allOf": []}), json!({}), None),
        (
            "allOf without list",
            json!({"allOf": {"type": "string"}}),
            json!({"allOf": [{"type": "string"}]}),
            Some("invalid-keyword"),
        ),
        ("PHP's empty object", json!({"properties": []}), json!({}), None),
        ("pattern that can't be compiled", json!({"pattern": "(unclosed"}), json!({}), Some("unusable-pattern")),
        ("pattern with look-ahead", json!({"pattern": "^(?=.*[a-z])x"}), json!({"pattern": "^(?=.*[a-z])x"}), None),
        (
            "enum of another type",
            json!({"type": "string", "enum": [1, true]}),
            json!({"type": "string", "enum": ["1", "true"]}),
            Some("enum-type"),
        ),
        ("enum repeats", json!({"enum": ["a", "a"]}), json!({"enum": ["a"]}), None),
        ("a schema that is none", json!({"items": "string"}), json!({"items": true}), Some("invalid-schema")),
        ("unknown keyword", json!({"maxLenght": 5}), json!({}), Some("unknown-keyword")),
        (
            "an identifier would change what references mean",
            json!({"$id": "https://x.example/s", "$schema": "http://json-schema.org/draft-07/schema#", "type": "string"}),
            json!({"type": "string"}),
            None,
        ),
        ("examples as in media types", json!({"examples": {"one": {"value": 1}}}), json!({"examples": [1]}), None),
        ("empty keys", json!({"description": null, "type": "string"}), json!({"type": "string"}), None),
    ];
    for (what, schema, expected, code) in cases {
        let (found, codes) = convert("3.1.0", schema, json!({}));
        assert_eq!(found, expected, "{what}");
        assert_eq!(codes, code.into_iter().collect::<Vec<_>>(), "{what}");
    }
}

#[test]
fn a_3_1_schema_stays_as_it_is_in_the_authors_order() {
    let schema = json!({
        "type": ["object", "null"], "required": ["b"], "properties": {"b": {"const": 1}, "a": false},
        "if": {"properties": {"b": {"const": 1}}}, "then": {"required": ["a"]}, "else": {"maxProperties": 2},
        "patternProperties": {"^x-": {"type": "string"}}, "unevaluatedProperties": false,
        "dependentRequired": {"a": ["b"]}, "propertyNames": {"maxLength": 9}, "contains": {"minimum": 1},
        "minContains": 0, "$comment": "c", "deprecated": true, "exclusiveMinimum": 3,
    });
    let (found, codes) = convert("3.1.0", schema.clone(), json!({}));
    assert_eq!(found.to_string(), schema.to_string());
    assert!(codes.is_empty(), "{codes:?}");
}

#[test]
fn references_beside_keywords_combine_from_3_1_on() {
    let (found, _) =
        convert("3.1.0", json!({"$ref": "#/components/schemas/X", "maxLength": 3}), json!({"X": {"type": "string"}}));
    assert_eq!(found, json!({"$ref": "#/$defs/X", "maxLength": 3, "$defs": {"X": {"type": "string"}}}));
}

#[test]
fn a_property_called_ref_is_a_property() {
    let schema = json!({"type": "object", "properties": {"$ref": {"type": "string"}}});
    let (found, codes) = convert("3.0.3", schema.clone(), json!({}));
    assert_eq!(found, schema);
    assert!(codes.is_empty());
}

#[test]
fn every_place_that_holds_a_schema_is_converted() {
    for (keyword, wrap) in [
        ("propertyNames", json!({"propertyNames": {"$ref": "#/components/schemas/X"}})),
        ("patternProperties", json!({"patternProperties": {"a": {"$ref": "#/components/schemas/X"}}})),
        ("additionalProperties", json!({"additionalProperties": {"$ref": "#/components/schemas/X"}})),
        ("dependentSchemas", json!({"dependentSchemas": {"a": {"$ref": "#/components/schemas/X"}}})),
        ("contentSchema", json!({"contentSchema": {"$ref": "#/components/schemas/X"}})),
        ("not", json!({"not": {"$ref": "#/components/schemas/X"}})),
        ("prefixItems", json!({"prefixItems": [{"$ref": "#/components/schemas/X"}]})),
        ("unevaluatedItems", json!({"unevaluatedItems": {"$ref": "#/components/schemas/X"}})),
    ] {
        let (found, _) = convert("3.1.0", wrap, json!({"X": {"nullable": true, "type": "string"}}));
        assert_eq!(found["$defs"], json!({"X": {"type": ["string", "null"]}}), "{keyword}");
    }
}

#[test]
fn hidden_characters_are_removed_from_text_but_not_from_values() {
    let schema =
        json!({"description": "a\u{202e}b\u{0}c\r\nd\u{e0041}", "enum": ["x\u{202e}"], "example": "e\u{2066}"});
    let (found, _) = convert("3.1.0", schema, json!({}));
    assert_eq!(found, json!({"description": "abc\nd", "enum": ["x\u{202e}"], "examples": ["e"]}));
}

#[test]
fn a_mapped_discriminator_becomes_constants() {
    let components = json!({
        "Cat": {"type": "object", "properties": {"kind": {"type": "string"}}},
        "Dog": {"type": "object", "properties": {"kind": {"type": "string", "enum": ["dog"]}}},
        "Eel": {"type": "object", "properties": {"kind": {"type": "string", "enum": ["other"]}}},
    });
    let schema = json!({
        "oneOf": [{"$ref": "#/components/schemas/Cat"}, {"$ref": "#/components/schemas/Dog"}, {"$ref": "#/components/schemas/Eel"}],
        "discriminator": {"propertyName": "kind", "mapping": {"cat": "Cat", "dog": "#/components/schemas/Dog", "eel": "Eel"}},
    });
    let (found, _) = convert("3.0.3", schema, components);
    assert_eq!(
        found["oneOf"],
        json!([
            {"$ref": "#/$defs/Cat", "properties": {"kind": {"const": "cat"}}, "required": ["kind"]},
            {"$ref": "#/$defs/Dog"},
            {"$ref": "#/$defs/Eel"},
        ]),
    );
    assert!(found.get("discriminator").is_none());
}

/// OpenAPI 3.0.3 to 3.2, "Discriminator Object": without `mapping` the value is the name of the schema.
#[test]
fn without_a_mapping_the_names_of_schemas_discriminate() {
    let kind = |schema: Value| json!({"type": "object", "properties": {"petType": schema}});
    let components = json!({
        "Base": kind(json!({"type": "string"})),
        "Cat": {"allOf": [{"$ref": "#/components/schemas/Base"}, {"type": "object"}]},
        "Dog": kind(json!({"type": "string"})),
        "Lizard": kind(json!({"type": "string", "example": "lizard"})),
        "Fish": kind(json!({"type": "string", "enum": ["fish"]})),
        "Bird": {"type": "object"},
    });
    let branch = |name: &str| json!({"$ref": format!("#/components/schemas/{name}")});
    let branches = ["Cat", "Dog", "Lizard", "Fish", "Bird"].map(branch);
    let schema = json!({
        "oneOf": branches,
        "discriminator": {"propertyName": "petType", "mapping": {"dog": "Dog"}},
    });
    for version in ["3.0.3", "3.1.0", "3.2.0"] {
        let (found, codes) = convert(version, schema.clone(), components.clone());
        let says = |value: &str| json!({"petType": {"const": value}});
        assert_eq!(
            found["oneOf"],
            json!([
                {"$ref": "#/$defs/Cat", "properties": says("Cat"), "required": ["petType"]},
                {"$ref": "#/$defs/Dog", "properties": says("dog"), "required": ["petType"]},
                // these have values of their own, or no such property
                {"$ref": "#/$defs/Lizard"}, {"$ref": "#/$defs/Fish"}, {"$ref": "#/$defs/Bird"},
            ]),
            "{version}"
        );
        assert!(codes.is_empty(), "{codes:?}");
    }
}

#[test]
fn a_parent_that_lists_children_which_extend_it_is_no_endless_schema() {
    let components = json!({
        "Pet": {"type": "object", "required": ["name"], "oneOf": [{"$ref": "#/components/schemas/Cat"}]},
        "Cat": {"allOf": [{"$ref": "#/components/schemas/Pet"}, {"type": "object", "required": ["claws"]}]},
    });
    let (found, _) = convert("3.0.3", json!({"$ref": "#/components/schemas/Pet"}), components);
    let validator = jsonschema::validator_for(&found).unwrap();
    assert!(validator.is_valid(&json!({"name": "x", "claws": 1})));
    assert!(!validator.is_valid(&json!({"claws": 1})), "the child keeps what the parent requires");
    assert!(!validator.is_valid(&json!({"name": "x"})), "the parent still asks for one of its children");
}

#[test]
fn schemas_that_contain_themselves_are_cut_or_kept() {
    let cases = [
        ("itself", json!({"A": {"$ref": "#/components/schemas/A"}}), "unresolved-ref"),
        (
            "allOf itself",
            json!({"A": {"type": "string", "allOf": [{"$ref": "#/components/schemas/A"}]}}),
            "circular-schema",
        ),
        (
            "each other",
            json!({"A": {"allOf": [{"$ref": "#/components/schemas/B"}]}, "B": {"type": "string", "allOf": [{"$ref": "#/components/schemas/A"}]}}),
            "circular-schema",
        ),
        (
            "one of each other",
            json!({"A": {"anyOf": [{"$ref": "#/components/schemas/B"}]}, "B": {"anyOf": [{"$ref": "#/components/schemas/A"}, {"type": "string"}]}}),
            "circular-schema",
        ),
    ];
    for (what, components, code) in cases {
        let (found, codes) = convert("3.1.0", json!({"$ref": "#/components/schemas/A"}), components);
        let validator = jsonschema::validator_for(&found).unwrap();
        assert!(validator.is_valid(&json!("text")), "{what}: {found}");
        assert!(codes.contains(&code), "{what}: {codes:?}");
    }
    let tree = json!({"A": {"type": "object", "properties": {"next": {"$ref": "#/components/schemas/A"}}}});
    let (found, codes) = convert("3.1.0", json!({"$ref": "#/components/schemas/A"}), tree.clone());
    assert_eq!(found["$defs"]["A"]["properties"]["next"], json!({"$ref": "#/$defs/A"}));
    assert!(codes.is_empty());
}

#[test]
fn names_of_definitions_are_legal_unique_and_the_authors_where_possible() {
    let components =
        json!({"Page«Pet»": {"type": "array"}, "Page_Pet_": {"type": "object"}, "ok.name-1": {"type": "null"}});
    let schema = json!({"anyOf": [
        {"$ref": "#/components/schemas/Page«Pet»"}, {"$ref": "#/components/schemas/Page_Pet_"}, {"$ref": "#/components/schemas/ok.name-1"},
    ]});
    let (found, _) = convert("3.1.0", schema, components);
    let expected =
        json!({"Page_Pet__2": {"type": "array"}, "Page_Pet_": {"type": "object"}, "ok.name-1": {"type": "null"}});
    assert_eq!(found["$defs"], expected);
}

#[test]
fn local_definitions_anchors_and_dynamic_references_end_in_the_table() {
    let cases = [
        (
            "$defs",
            json!({"$ref": "#/components/schemas/X/$defs/inner"}),
            json!({"X": {"$defs": {"inner": {"type": "string"}}}}),
        ),
        ("$anchor", json!({"$ref": "#here"}), json!({"X": {"$anchor": "here", "type": "string"}})),
        ("$id", json!({"$ref": "https://x.example/s"}), json!({"X": {"$id": "https://x.example/s", "type": "string"}})),
        ("$dynamicRef", json!({"$dynamicRef": "#dyn"}), json!({"X": {"$dynamicAnchor": "dyn", "type": "string"}})),
    ];
    for (what, schema, components) in cases {
        let (found, codes) = convert("3.1.0", schema, components);
        let name = found["$ref"].as_str().unwrap().strip_prefix("#/$defs/").unwrap();
        let mut definition = found["$defs"][name].clone();
        definition.as_object_mut().unwrap().remove("$anchor");
        assert_eq!(definition, json!({"type": "string"}), "{what}");
        assert!(codes.is_empty(), "{what}: {codes:?}");
    }
    let recursive = json!({"X": {"$recursiveAnchor": true, "items": {"$recursiveRef": "#"}}});
    let (found, _) = convert("3.1.0", json!({"$ref": "#/components/schemas/X"}), recursive);
    assert_eq!(found["$defs"]["X"], json!({"items": {"$ref": "#/$defs/X"}}));
}

#[test]
fn numbers_in_an_enum_of_texts_are_what_the_author_wrote() {
    let (api, _) = read_body(
        "3.0.3",
        "paths: { /: { get: { parameters: [{ name: v, in: query, schema: { type: string, enum: [1.10, 1.2] } }] } } }",
    );
    let schema = &api.operations[0].parameters[0].schema;
    assert_eq!(schema.json["enum"], json!(["1.10", "1.2"]));
}

#[test]
fn nesting_beyond_the_limit_is_cut_and_told() {
    let mut schema = json!({"type": "string"});
    for _ in 0..40 {
        schema = json!({"items": schema});
    }
    let text = json!({"openapi": "3.1.0", "paths": {"/": {"get": {"parameters": [{"name": "p", "in": "query", "schema": schema}]}}}});
    let set = super::support::set(&[("/a.json", &text.to_string())]);
    let options = rest_mcp::openapi::ReadOptions { max_schema_depth: 20, ..Default::default() };
    let (api, report) = rest_mcp::openapi::read(&set, &options);
    assert_eq!(api.unwrap().operations.len(), 1);
    assert!(codes(&report).contains(&"schema-too-deep"));
}

#[test]
fn hostile_nesting_and_fan_out_end_in_time() {
    // As deep as a document can be.
    let mut schema = json!({"type": "string"});
    for _ in 0..105 {
        schema = json!({"items": schema});
    }
    let (found, _) = convert("3.1.0", schema, json!({}));
    assert!(found.is_object());
    // Twice the same parent at every level: 2^60 ways from the top to the bottom.
    let reference = |n: usize| json!({"$ref": format!("#/components/schemas/S{n}")});
    let mut components = json!({"S60": {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]}});
    for n in 0..60 {
        let member = json!({"properties": {format!("p{n}"): {"allOf": [reference(n + 1), reference(n + 1)]}}});
        components[format!("S{n}")] = json!({"allOf": [reference(n + 1), member, reference(n + 1)], "required": ["a"]});
    }
    let document = json!({
        "openapi": "3.1.0",
        "paths": {"/": {"post": {"requestBody": {"content": {"application/json": {"schema": reference(0)}}}}}},
        "components": {"schemas": components},
    });
    let (api, _) = read_text(&document.to_string());
    let schema = &api.operations[0].body.as_ref().unwrap().content[0].schema;
    assert!(api.definitions.bundle(schema, Direction::Input).is_object());
    assert!(api.definitions.object_view(schema, Direction::Input).is_some());
}

#[test]
fn patterns_are_written_as_ecma_262_with_u_reads_them() {
    let table = [
        // Identity escapes of characters that are no syntax characters (ECMA-262 22.2.1, IdentityEscape[+U]).
        (r"^[a-zA-Z0-9_\-\:]+$", Some(r"^[a-zA-Z0-9_\-:]+$")),
        (r"a\-b\_c\@d\ e\/f\.g", Some(r"a-b_c@d e\/f\.g")),
        // Brackets that stand alone.
        (r"a]b}c{d", Some(r"a\]b\}c\{d")),
        (r"a{2}b{2,}c{2,3}d{,3}", Some(r"a{2}b{2,}c{2,3}d{0,3}")),
        // A class escape is no end of a range (22.2.1.1).
        (r"[\w-.]", Some(r"[\w\-.]")),
        (r"[a-\d]", Some(r"[a\-\d]")),
        ("[a-z-9]", Some(r"[a-z\-9]")),
        ("[-a]", Some("[-a]")),
        ("[^-a-c]", Some("[^-a-c]")),
        ("a++", None),
        ("a{2}+", None),
        (r"\p{L}+\u{41}+\x41+a+?", Some(r"\p{L}+\u{41}+\x41+a+?")),
        ("[a-]", Some("[a-]")),
        ("[[]", Some(r"[\[]")),
        // Words of other engines.
        ("[[:alpha:]_]", Some("[A-Za-z_]")),
        (r"\Aab\z", Some("^ab$")),
        ("(?P<year>a)", Some("(?<year>a)")),
        (r"[\&&]", Some(r"[\x26&]")),
        // Legal as they are.
        (r"^\p{L}\u00e9\x41\d[^\]\\]*(?:a|b)(?=c)(?!d)$", Some(r"^\p{L}\u00e9\x41\d[^\]\\]*(?:a|b)(?=c)(?!d)$")),
        ("^(?<=a)b+?$", Some("^(?<=a)b+?$")),
        // No words for it.
        ("(?i)abc", None),
        ("(?>a)", None),
        (r"\Qa\E", None),
        ("[a", None),
    ];
    for (pattern, expected) in table {
        let (out, codes) = convert("3.1.0", json!({ "pattern": pattern }), json!({}));
        assert_eq!(out.get("pattern").and_then(Value::as_str), expected, "{pattern}");
        assert_eq!(codes.contains(&"unusable-pattern"), expected.is_none(), "{pattern}: {codes:?}");
    }
}

#[test]
fn definitions_keep_their_anchor_once() {
    let address = json!({ "$anchor": "addressDef", "type": "object" });
    let components = json!({ "A": address, "B": address, "C": { "$anchor": "not legal", "type": "object" } });
    let schema = json!({ "properties": {
        "a": { "$ref": "#/components/schemas/A" }, "b": { "$ref": "#/components/schemas/B" },
        "c": { "$ref": "#/components/schemas/C" }, "d": { "$anchor": "inline", "type": "string" },
    } });
    let (out, _) = convert("3.1.0", schema, components);
    assert_eq!(out["$defs"]["A"], address);
    assert_eq!(out["$defs"]["B"], json!({ "type": "object" }));
    assert_eq!(out["$defs"]["C"], json!({ "type": "object" }));
    assert_eq!(out["properties"]["d"], json!({ "type": "string" }));
    assert!(jsonschema::draft202012::new(&out).is_ok());
}

#[test]
fn what_replaces_a_reference_at_the_root_has_no_anchor() {
    let document = json!({
        "openapi": "3.1.0", "info": { "title": "T", "version": "1" },
        "paths": { "/": { "get": { "parameters": [{ "name": "p", "in": "query", "schema": { "$ref": "#/components/schemas/N" } }] } } },
        "components": { "schemas": { "N": { "$anchor": "n", "properties": { "next": { "$ref": "#/components/schemas/N" } } } } },
    });
    let (api, _) = read_text(&document.to_string());
    let out = api.definitions.inline(&api.operations[0].parameters[0].schema, Direction::Input);
    assert_eq!((out.get("$anchor"), &out["$defs"]["N"]["$anchor"]), (None, &json!("n")));
}

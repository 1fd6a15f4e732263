use super::{document, mapping};
use rest_mcp::mapping::{OperationFacts, init, init_update};

fn operation(method: &str, path: &str, id: Option<&str>, tag: &str) -> OperationFacts {
    OperationFacts {
        operation_id: id.map(str::to_owned),
        method: method.to_owned(),
        path: path.to_owned(),
        summary: Some(format!("Does\n{path} # really: \u{202e}yes")),
        tags: if tag.is_empty() { vec![] } else { vec![tag.to_owned()] },
        tool_name: id.unwrap_or("auto").to_owned(),
        shorter: None,
        dangerous: method == "DELETE",
    }
}

fn operations() -> Vec<OperationFacts> {
    let mut all = vec![
        operation("GET", "/pet/{petId}", Some("getPetById"), "pet"),
        operation("DELETE", "/pet/{petId}", Some("deletePet"), "pet"),
        operation("PUT", "/store", Some("replace: all\"stores"), "store\nx"),
        operation("GET", "/health", None, ""),
    ];
    all[2].dangerous = true;
    all[0].shorter = Some("get_pet".to_owned());
    all
}

#[test]
fn a_first_mapping_is_readable_and_changes_nothing_but_confirmations() {
    let text = init("pets", "../specs/pets.yaml", "../mappings/mapping.schema.json", &operations());
    assert!(text.starts_with("# yaml-language-server: $schema=../mappings/mapping.schema.json\n"));
    let mapping = mapping(&text);
    assert!(mapping.tools.is_empty());
    assert_eq!(mapping.rules.len(), 1);
    assert_eq!(mapping.sources["pets"].spec.as_ref().unwrap().0, "../specs/pets.yaml");
    assert!(text.contains("  # pet (2)\n") && text.contains("  # without a tag (1)\n"));
    assert!(text.contains("GET /health"));
    assert!(!text.contains('\u{202e}'));
}

#[test]
fn its_suggestions_are_valid_once_the_hash_is_taken_away() {
    let text = init("pets", "a b: #.yaml", "s", &operations());
    assert_eq!(mapping(&text).sources["pets"].spec.as_ref().unwrap().0, "a b: #.yaml");
    let name = text.lines().position(|line| line.contains("# get_pet:")).expect(&text);
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    for line in &mut lines[name..name + 2] {
        *line = line.replacen("# ", "", 1);
    }
    let mapping = mapping(&(lines.join("\n") + "\n"));
    assert_eq!(mapping.tools["get_pet"].operation.as_deref(), Some("getPetById"));
}

#[test]
fn a_large_api_stays_a_small_file() {
    let many: Vec<OperationFacts> =
        (0..1200).map(|n| operation("GET", &format!("/x/{n}"), Some(&format!("getThingNumber{n}")), "t")).collect();
    let text = init("big", "big.json", "s", &many);
    assert!(text.lines().count() < 300, "{}", text.lines().count());
    let (updated, report) = init_update(&document(&text), &mapping(&text), "big", &many);
    assert!(report.is_empty() && updated == text, "{report:?}");
}

#[test]
fn an_update_keeps_every_byte_and_reports_what_vanished_and_what_is_new() {
    let text = "version: 1   # mine\nsources: { pets: { spec: a } }\ntools:\n  get_pet: { operation: getPetByID }   # keep\n  old: { operation: GET /old }\n  deletePet: { title: D }\n  gone: { title: G }\n  both:\n    steps: [ { id: a, call: deletePet }, { id: b, call: get_pet }, { id: c, call: nope } ]";
    let (updated, report) = init_update(&document(text), &mapping(text), "pets", &operations());
    assert!(updated.starts_with(text));
    assert_eq!(
        report,
        [
            "tools.get_pet.operation: `getPetByID` is not in the document any more (now `getPetById`?)",
            "tools.old.operation: `GET /old` is not in the document any more",
            "tools.gone: `gone` is not in the document any more",
            "tools.both.steps.c: `nope` is not in the document any more",
            "new: `getPetById`",
            "new: `replace: all\"stores`",
            "new: `GET /health`",
        ]
    );
    let again = init_update(&document(&updated), &mapping(&updated), "pets", &operations());
    assert_eq!(again.0, updated);
    assert_eq!(again.1.len(), 4);
}

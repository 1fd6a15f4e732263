//! Search mode.

use crate::call::{tool, with_operation};
use rest_mcp::catalog::hints::estimated_tokens;
use rest_mcp::catalog::search::{Index, definitions, described, found};
use rest_mcp::catalog::{Action, Catalog};
use serde_json::json;
use std::sync::Arc;

fn catalog() -> Catalog {
    let mut catalog = Catalog::default();
    for (id, method, path, text) in [
        ("getPetById", "GET", "/pet/{petId}", "Look a pet up by its number."),
        ("findPetsByStatus", "GET", "/pet/findByStatus", "Finds pets that are available, pending or sold."),
        ("placeOrder", "POST", "/store/order", "Buy a pet: place an order in the store."),
        ("deleteUser", "DELETE", "/user/{name}", "Removes a user account for good."),
        ("uploadFile", "POST", "/pet/{petId}/uploadImage", "Uploads a picture."),
    ] {
        let schema =
            json!({ "type": "object", "properties": { "petId": { "type": "integer" } }, "required": ["petId"] });
        let tool = with_operation(tool(id, schema, Action::Steps(Vec::new())), method, path, id, text);
        catalog.tools.insert(id.to_string(), Arc::new(tool));
    }
    for (name, action) in [("search_tools", Action::Search), ("call_tool", Action::CallByName)] {
        catalog.tools.insert(name.to_string(), Arc::new(tool(name, json!({ "type": "object" }), action)));
    }
    catalog
}

fn names(catalog: &Catalog, query: &str) -> Vec<String> {
    let hits = Index::new(catalog).search(query, 10);
    hits.iter().map(|(index, _)| catalog.tools.get_index(*index).expect("a tool").0.clone()).collect()
}

#[test]
fn the_best_match_comes_first() {
    let catalog = catalog();
    for (query, first) in [
        ("remove a user", "deleteUser"),
        ("buying something in a store", "placeOrder"),
        ("upload image of pet", "uploadFile"),
        ("which pets are available", "findPetsByStatus"),
        ("getPetById", "getPetById"),
        ("get_pet by id", "getPetById"),
        ("POST /store/order", "placeOrder"),
        ("/pet/{petId}", "getPetById"),
    ] {
        assert_eq!(names(&catalog, query).first().map(String::as_str), Some(first), "{query}");
    }
}

#[test]
fn the_search_tools_themselves_are_never_found() {
    let catalog = catalog();
    assert_eq!(names(&catalog, "search_tools"), Vec::<String>::new());
    assert_eq!(names(&catalog, "call tool"), Vec::<String>::new());
    assert_eq!(names(&catalog, ""), Vec::<String>::new());
    assert_eq!(names(&catalog, &"x".repeat(100_000)), Vec::<String>::new());
}

#[test]
fn tools_that_the_caller_may_not_see_are_not_found() {
    let catalog = catalog();
    let hidden = catalog.tools.get_index_of("deleteUser").expect("there");
    let hits = Index::new(&catalog).search_among("deleteUser", 10, |index| index != hidden);
    assert!(hits.iter().all(|(index, _)| *index != hidden));
}

#[test]
fn an_empty_catalog_finds_nothing() {
    assert_eq!(Index::new(&Catalog::default()).search("pet", 10), []);
}

#[test]
fn the_published_tools_are_small_whatever_the_catalog() {
    let mut catalog = catalog();
    for n in 0..1_200 {
        let mut one = tool(&format!("operation{n}"), json!({ "type": "object" }), Action::Steps(Vec::new()));
        one.tags = vec![format!("a rather long tag number {}", n % 150)];
        catalog.tools.insert(one.name.clone(), Arc::new(one));
    }
    let tools = definitions(&catalog);
    let bytes: usize =
        tools.iter().map(|tool| tool.name.len() + tool.description.len() + tool.input.to_string().len() + 200).sum();
    assert!(estimated_tokens(bytes) < 1_200, "{bytes}");
    assert!(tools[0].description.contains("1205 tools"), "{}", tools[0].description);
    for tool in &tools {
        rest_mcp::schema::profile::self_check(&tool.input).expect("sound");
    }
}

#[test]
fn a_match_shows_name_first_line_and_arguments() {
    let catalog = catalog();
    assert_eq!(
        found(&catalog.tools["getPetById"]),
        json!({ "name": "getPetById", "description": "Look a pet up by its number.", "arguments": ["petId*"] })
    );
    assert_eq!(described(&catalog.tools["getPetById"])["inputSchema"]["required"], json!(["petId"]));
}

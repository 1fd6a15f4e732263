//! Properties that hold for any schema and arguments.

use super::call;
use crate::schema::random::{schema, value};
use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use rest_mcp::schema::check::Checker;
use serde_json::{Value, json};
use std::sync::Arc;

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, rng_seed: RngSeed::Fixed(1), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_valid_value_is_never_changed_and_what_is_called_is_valid(inner in schema(), value in value()) {
        let mut schema = inner.clone();
        let definitions = schema.as_object_mut().and_then(|members| members.remove("$defs"));
        let schema = json!({ "type": "object", "properties": { "a": schema, "b": { "type": "integer" } }, "$defs": definitions });
        let checker = Checker::new(Arc::new(schema.clone()));
        prop_assume!(checker.compile().is_ok());
        let arguments = json!({ "a": value });
        let result = call(schema.clone(), &arguments.to_string());
        if checker.is_valid(&arguments) {
            let called = result.expect("valid arguments pass");
            prop_assert_eq!(Value::Object(called.arguments), arguments.clone());
            prop_assert!(called.healed.is_empty());
            // Healing another argument leaves a text alone that is right where it stands.
            let both = json!({ "a": value, "b": "5" });
            let called = call(schema, &both.to_string()).expect("healed");
            prop_assert_eq!(&called.arguments["a"], &value);
        } else if let Ok(called) = result {
            prop_assert!(checker.is_valid(&Value::Object(called.arguments)));
            prop_assert!(!called.healed.is_empty());
        }
    }
}

//! `path` and `pick` while the JSON text is read, so that what is left out is never built.

use super::selector::{Segment, Selector, Tree};
use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};
use std::fmt;

/// True if a path can be followed while reading: item numbers and `*` need the whole list.
pub(super) fn is_plain(selector: &Selector) -> bool {
    selector.segments.iter().all(|segment| matches!(segment, Segment::Name(name) if name.parse::<usize>().is_err()))
}

/// Reads what `path` and `pick` leave of a JSON text; `None` where the path leads nowhere.
/// Errors: the text is no JSON.
pub(super) fn read(text: &[u8], path: Option<&Selector>, pick: Option<&Tree>) -> serde_json::Result<Option<Value>> {
    let segments = path.map_or(&[][..], |path| &path.segments);
    let mut deserializer = serde_json::Deserializer::from_slice(text);
    let value = Descend { segments, pick }.deserialize(&mut deserializer)?;
    deserializer.end()?;
    Ok(value)
}

/// Follows the path.
#[derive(Clone, Copy)]
struct Descend<'t> {
    segments: &'t [Segment],
    pick: Option<&'t Tree>,
}

impl<'de> DeserializeSeed<'de> for Descend<'_> {
    type Value = Option<Value>;
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        if self.segments.is_empty() {
            return match self.pick {
                Some(tree) => deserializer.deserialize_any(Pick(tree)).map(Some),
                None => serde::Deserialize::deserialize(deserializer).map(Some),
            };
        }
        deserializer.deserialize_any(self)
    }
}

/// Scalars are dead ends of a path.
macro_rules! dead_ends {
    ($($method:ident: $type:ty),*) => {
        $(fn $method<E: Error>(self, _: $type) -> Result<Self::Value, E> {
            Ok(None)
        })*
        fn visit_unit<E: Error>(self) -> Result<Self::Value, E> {
            Ok(None)
        }
    };
}

impl<'de> Visitor<'de> for Descend<'_> {
    type Value = Option<Value>;
    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }
    dead_ends!(visit_bool: bool, visit_i64: i64, visit_u64: u64, visit_f64: f64, visit_str: &str);
    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let Some((Segment::Name(wanted), rest)) = self.segments.split_first() else { return Ok(None) };
        let mut found = None;
        while let Some(hit) = map.next_key_seed(Is(wanted))? {
            if hit {
                found = map.next_value_seed(Descend { segments: rest, pick: self.pick })?;
            } else {
                map.next_value::<IgnoredAny>()?;
            }
        }
        Ok(found)
    }
    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
        let mut found = Vec::new();
        while let Some(item) = seq.next_element_seed(self)? {
            found.extend(item);
        }
        Ok(Some(Value::Array(found)))
    }
}

/// Whether a key is the wanted one.
struct Is<'t>(&'t str);

impl<'de> DeserializeSeed<'de> for Is<'_> {
    type Value = bool;
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<bool, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl Visitor<'_> for Is<'_> {
    type Value = bool;
    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a key")
    }
    fn visit_str<E: Error>(self, key: &str) -> Result<bool, E> {
        Ok(key == self.0)
    }
}

/// Keeps what the tree leads to.
#[derive(Clone, Copy)]
struct Pick<'t>(&'t Tree);

impl<'de> DeserializeSeed<'de> for Pick<'_> {
    type Value = Value;
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        if self.0.leaf {
            return serde::Deserialize::deserialize(deserializer);
        }
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Pick<'_> {
    type Value = Value;
    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }
    fn visit_bool<E: Error>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }
    fn visit_i64<E: Error>(self, value: i64) -> Result<Value, E> {
        Ok(value.into())
    }
    fn visit_u64<E: Error>(self, value: u64) -> Result<Value, E> {
        Ok(value.into())
    }
    fn visit_f64<E: Error>(self, value: f64) -> Result<Value, E> {
        Ok(Number::from_f64(value).map_or(Value::Null, Value::Number))
    }
    fn visit_str<E: Error>(self, value: &str) -> Result<Value, E> {
        Ok(Value::String(value.to_owned()))
    }
    fn visit_unit<E: Error>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }
    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Value, A::Error> {
        let mut kept = Map::new();
        while let Some(found) = map.next_key_seed(Child(self.0))? {
            match found {
                Some((name, child)) => {
                    let value = map.next_value_seed(Pick(child))?;
                    if child.leads_into(&value) {
                        kept.insert(name, value);
                    }
                }
                None => {
                    map.next_value::<IgnoredAny>()?;
                }
            }
        }
        Ok(Value::Object(kept))
    }
    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Value, A::Error> {
        let mut kept = Vec::new();
        while let Some(item) = seq.next_element_seed(self)? {
            if self.0.leads_into(&item) {
                kept.push(item);
            }
        }
        Ok(Value::Array(kept))
    }
}

/// The part of the tree that a key leads to, with the key where there is one.
struct Child<'t>(&'t Tree);

impl<'de, 't> DeserializeSeed<'de> for Child<'t> {
    type Value = Option<(String, &'t Tree)>;
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl<'t> Visitor<'_> for Child<'t> {
    type Value = Option<(String, &'t Tree)>;
    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a key")
    }
    fn visit_str<E: Error>(self, key: &str) -> Result<Self::Value, E> {
        Ok(self.0.child(key).map(|child| (key.to_owned(), child)))
    }
}

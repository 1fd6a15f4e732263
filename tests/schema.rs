//! Tests of schema: what a model reads about a wrong value, what is published, names and descriptions.

mod check;
mod conform;
mod corpus;
mod names;
mod output;
mod profile;
pub mod random;
mod search;

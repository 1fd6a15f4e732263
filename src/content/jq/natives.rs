//! Native functions: jaq's without those that look outside or act, and the guard's own.

use super::guard::Kind;
use super::value::{self, Run};
use jaq_core::box_iter::box_once;
use jaq_core::native::{Fun, bome, run, v};
use jaq_core::{Bind, Error, Native};
use jaq_json::Val;

/// Filters that are not offered, natives and library definitions alike.
pub(super) const WITHHELD: &[&str] = &[
    "env",
    "halt",
    "halt_error",
    "input",
    "inputs",
    "input_filename",
    "input_line_number",
    "debug",
    "debug_empty",
    "stderr",
    "stderr_empty",
    "now",
    "localtime",
    "strflocaltime",
    "get_search_list",
];

/// All functions.
pub(super) fn functions() -> impl Iterator<Item = Fun<Kind>> {
    let library = jaq_core::funs().chain(jaq_std::funs()).chain(jaq_json::funs());
    library.filter(|(name, ..)| !WITHHELD.contains(name) && *name != "fromjson").chain(own())
}

fn own() -> [Fun<Kind>; 4] {
    let none = || -> Box<[Bind]> { Box::new([]) };
    [
        (
            "__tick",
            none(),
            Native::new(|cv: Run<'_>| {
                cv.0.data().tick(&cv.1);
                box_once(Ok(cv.1))
            })
            .with_paths(|cv| {
                cv.0.data().tick(&cv.1.0);
                box_once(Ok(cv.1))
            })
            .with_update(|cv, update| {
                cv.0.data().tick(&cv.1);
                update(cv.1)
            }),
        ),
        (
            "__built",
            none(),
            Native::new(|cv: Run<'_>| {
                cv.0.data().built(&cv.1);
                box_once(Ok(cv.1))
            })
            .with_paths(|cv| {
                cv.0.data().built(&cv.1.0);
                box_once(Ok(cv.1))
            })
            .with_update(|cv, update| {
                cv.0.data().built(&cv.1);
                update(cv.1)
            }),
        ),
        run(("__times", v(2), |mut cv: Run<'_>| {
            let right = cv.0.pop_var();
            let left = cv.0.pop_var();
            bome(value::product(left, right, cv.0.data()))
        })),
        run(("fromjson", v(0), |cv: Run<'_>| {
            bome(match &cv.1 {
                Val::TStr(text) | Val::BStr(text) => value::parse(text, cv.0.data()).map_err(Error::str),
                other => Err(Error::typ(other.clone(), "string")),
            })
        })),
    ]
}

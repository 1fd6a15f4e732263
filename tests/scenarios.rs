//! User stories, one folder each under `tests/scenarios/`: a document, a mapping and `story.yaml`, which says what is
//! published, what each call sends upstream, what the API answers and what the client gets.
//!
//! Everything runs in process: the files are loaded and compiled as `serve` does, the API is a scripted server on
//! loopback that refuses any request the story does not expect. Expected values are worked out by hand.
//!
//! `STORY=name` runs one folder.

mod coverage;
mod matching;
mod random;
mod run;
mod upstream;

use std::path::{Path, PathBuf};

/// All story folders.
pub fn stories() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/scenarios");
    let mut all: Vec<PathBuf> =
        std::fs::read_dir(root).unwrap().map(|entry| entry.unwrap().path()).filter(|path| path.is_dir()).collect();
    all.sort();
    all
}

#[tokio::test(flavor = "multi_thread")]
async fn every_story_comes_true() {
    let only = std::env::var("STORY").ok();
    let mut wrong = Vec::new();
    let mut count = 0;
    for folder in stories() {
        let name = folder.file_name().unwrap().to_string_lossy().into_owned();
        if only.as_ref().is_some_and(|only| !name.contains(only.as_str())) {
            continue;
        }
        count += 1;
        let problems = run::story(&folder).await;
        wrong.extend(problems.into_iter().map(|problem| format!("{name}: {problem}")));
    }
    assert!(count > 0, "no story ran");
    assert!(wrong.is_empty(), "{} problems:\n{}", wrong.len(), wrong.join("\n"));
}

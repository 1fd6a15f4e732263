//! Documents from files: what is read, what is not, and what is said about it.

use super::codes;
use rest_mcp::diagnostic::Report;
use rest_mcp::document::DocumentSet;
use rest_mcp::load::{LoadOptions, changed, load_document, load_set, load_set_tracked};
use std::path::{Path, PathBuf};
use tempfile::TempDir;

fn folder(files: &[(&str, &str)]) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in files {
        write(folder.path(), name, text.as_bytes());
    }
    folder
}

fn write(folder: &Path, name: &str, bytes: &[u8]) -> PathBuf {
    let path = folder.join(name);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(&path, bytes).unwrap();
    path
}

async fn load(folder: &TempDir, root: &str, allow: &[&str]) -> (Option<DocumentSet>, Report) {
    let options = LoadOptions { allow_refs: allow.iter().map(|s| (*s).to_owned()).collect(), ..LoadOptions::default() };
    load_set(folder.path().join(root).to_str().unwrap(), &options).await
}

fn names(folder: &TempDir, set: &DocumentSet) -> Vec<String> {
    let root = folder.path().to_str().unwrap();
    set.documents.iter().map(|d| d.location.strip_prefix(root).unwrap_or(&d.location).to_owned()).collect()
}

#[tokio::test]
async fn everything_a_document_reaches_is_read_once_circles_included() {
    let folder = folder(&[
        ("api/root.yaml", "openapi: 3.1.0\npaths:\n  /a: {$ref: 'paths/a.yaml'}\n  /b: {$ref: 'paths/a.yaml'}\n"),
        ("api/paths/a.yaml", "get: {schema: {$ref: '../schemas/with%20space.json'}}\n"),
        (
            "api/schemas/with space.json",
            "{\"items\": {\"$ref\": \"../root.yaml#/paths\"}, \"not\": {\"$ref\": \"with space.json\"}}",
        ),
    ]);
    let (set, report) = load(&folder, "api/root.yaml", &[]).await;
    assert!(report.is_empty(), "{}", report.render(false));
    let set = set.unwrap();
    assert_eq!(names(&folder, &set), ["/api/root.yaml", "/api/paths/a.yaml", "/api/schemas/with space.json"]);
    assert_eq!(set.resolve(2, "../root.yaml#/paths").unwrap().document, 0);
}

#[tokio::test]
async fn a_missing_file_is_a_warning_at_its_ref_and_costs_nothing_else() {
    let folder = folder(&[("root.yaml", "openapi: 3.1.0\npaths:\n  /a:\n    $ref: nope.yaml\n")]);
    let (set, report) = load(&folder, "root.yaml", &[]).await;
    assert_eq!(codes(&report), ["missing-document"]);
    let at = report.diagnostics[0].place.as_ref().unwrap().position();
    assert_eq!((at.line, at.column), (4, 11));
    assert!(!report.has_errors());
    let error = set.unwrap().resolve(0, "nope.yaml").unwrap_err().to_string();
    assert!(error.contains("there is no such file"), "{error}");
}

#[tokio::test]
async fn references_out_of_the_folder_are_not_followed_unless_allowed() {
    let folder = folder(&[
        ("api/root.yaml", "openapi: 3.1.0\na: {$ref: '../common/x.yaml'}\n"),
        ("common/x.yaml", "b: {$ref: y.yaml}\n"),
        ("common/y.yaml", "c: 1\n"),
        ("commonplace/z.yaml", "d: 1\n"),
    ]);
    let (set, report) = load(&folder, "api/root.yaml", &[]).await;
    assert_eq!(set.unwrap().documents.len(), 1);
    assert_eq!(codes(&report), ["ref-not-allowed"]);
    assert!(report.diagnostics[0].fix.as_ref().unwrap().contains("allow_refs"));
    for allow in ["../common", "..", "../common/", folder.path().to_str().unwrap()] {
        let (set, report) = load(&folder, "api/root.yaml", &[allow]).await;
        assert!(report.is_empty(), "{}", report.render(false));
        assert_eq!(names(&folder, &set.unwrap()), ["/api/root.yaml", "/common/x.yaml", "/common/y.yaml"]);
    }
    write(folder.path(), "api/root.yaml", b"openapi: 3.1.0\na: {$ref: '../commonplace/z.yaml'}\n");
    let (_, report) = load(&folder, "api/root.yaml", &["../common"]).await;
    assert_eq!(codes(&report), ["ref-not-allowed"]);
    write(
        folder.path(),
        "api/root.yaml",
        b"openapi: 3.1.0\na: {$ref: '/etc/hostname'}\nb: {$ref: 'file:///etc/hostname'}\n",
    );
    let (set, report) = load(&folder, "api/root.yaml", &[]).await;
    assert_eq!((set.unwrap().documents.len(), codes(&report)), (1, vec!["ref-not-allowed"]));
}

#[cfg(unix)]
#[tokio::test]
async fn links_out_of_the_folder_count_as_out_and_links_inside_do_not() {
    let folder = folder(&[
        ("api/root.yaml", "openapi: 3.1.0\na: {$ref: out.yaml}\nb: {$ref: in.yaml}\nc: {$ref: up/secret.yaml}\n"),
        ("api/data/real.yaml", "x: 1\n"),
        ("secret.yaml", "s: 1\n"),
    ]);
    let at = |name: &str| folder.path().join(name);
    std::os::unix::fs::symlink(at("secret.yaml"), at("api/out.yaml")).unwrap();
    std::os::unix::fs::symlink("data/real.yaml", at("api/in.yaml")).unwrap();
    std::os::unix::fs::symlink("..", at("api/up")).unwrap();
    let (set, report) = load(&folder, "api/root.yaml", &[]).await;
    assert_eq!(names(&folder, &set.unwrap()), ["/api/root.yaml", "/api/in.yaml"]);
    assert_eq!(codes(&report), ["ref-not-allowed", "ref-not-allowed"]);
    // A configuration folder whose files are links into a hidden one beside them.
    let set = load(&folder, "api/in.yaml", &[]).await.0.unwrap();
    assert_eq!(names(&folder, &set), ["/api/in.yaml"]);
}

/// Allowed folders count by what they are, whatever names lead there.
#[cfg(unix)]
#[tokio::test]
async fn allowed_folders_may_be_links_and_may_be_reached_by_links() {
    let folder = folder(&[
        ("api/inner.yaml", "openapi: 3.1.0\na: {$ref: 'linked/x.yaml'}\n"),
        ("api/outer.yaml", "openapi: 3.1.0\na: {$ref: '../alias/x.yaml'}\n"),
        ("api/gone.yaml", "openapi: 3.1.0\na: {$ref: '../alias/gone.yaml'}\n"),
        ("shared/x.yaml", "b: {$ref: y.yaml}\n"),
        ("shared/y.yaml", "c: 1\n"),
        ("other/z.yaml", "d: 1\n"),
    ]);
    let at = |name: &str| folder.path().join(name);
    std::os::unix::fs::symlink(at("shared"), at("alias")).unwrap();
    std::os::unix::fs::symlink("../shared", at("api/linked")).unwrap();
    for root in ["api/inner.yaml", "api/outer.yaml"] {
        for allow in ["../shared", "../alias"] {
            let (set, report) = load(&folder, root, &[allow]).await;
            assert!(report.is_empty(), "{root} with {allow}: {}", report.render(false));
            assert_eq!(set.unwrap().documents.len(), 3, "{root} with {allow}");
        }
        for allow in [&[] as &[&str], &["../other"]] {
            let (set, report) = load(&folder, root, allow).await;
            assert_eq!(
                (set.unwrap().documents.len(), codes(&report)),
                (1, vec!["ref-not-allowed"]),
                "{root} {allow:?}"
            );
        }
    }
    let (_, report) = load(&folder, "api/gone.yaml", &["../other"]).await;
    assert_eq!(codes(&report), ["ref-not-allowed"], "what is not there is refused alike");
}

#[tokio::test]
async fn what_is_referred_to_and_is_no_document_is_a_warning() {
    let folder = folder(&[
        (
            "root.yaml",
            "openapi: 3.1.0\na: {$ref: sub}\nb: {$ref: bad.json}\nc: {$ref: latin.yaml}\nd: {$ref: 'https://example.com/x'}\ne: {$ref: 'ftp://x/y'}\n",
        ),
        ("sub/x.yaml", "x: 1\n"),
        ("bad.json", "{\"a\" 1}"),
    ]);
    write(folder.path(), "latin.yaml", b"a: caf\xe9\n");
    let (set, report) = load(&folder, "root.yaml", &[]).await;
    let set = set.unwrap();
    assert_eq!(set.documents.len(), 1);
    assert!(!report.has_errors(), "{}", report.render(false));
    let mut codes = codes(&report);
    codes.sort_unstable();
    assert_eq!(codes, ["encoding", "json-syntax", "missing-document", "missing-document", "ref-not-allowed"]);
    assert!(set.resolve(0, "bad.json").unwrap_err().to_string().contains("can't be read"));
}

#[tokio::test]
async fn an_unusable_root_is_an_error() {
    let folder = folder(&[("bad.yaml", "a: [\n"), ("large.yaml", "a: 1234567890\n")]);
    for (name, code) in [("none.yaml", "unreadable-document"), ("", "unreadable-document"), ("bad.yaml", "yaml-syntax")]
    {
        let (set, report) = load(&folder, name, &[]).await;
        assert!(set.is_none());
        assert_eq!(codes(&report), [code], "{name}");
    }
    let options = LoadOptions { max_bytes: 5, ..LoadOptions::default() };
    let (set, report) = load_set(folder.path().join("large.yaml").to_str().unwrap(), &options).await;
    assert!(set.is_none() && report.diagnostics[0].message.contains("over 5 bytes"), "{}", report.render(false));
}

#[tokio::test]
async fn a_set_has_a_largest_size() {
    let files: Vec<(String, String)> =
        (0..10).map(|n| (format!("f{n}.yaml"), format!("openapi: 3.1.0\nnext: {{$ref: f{}.yaml}}\n", n + 1))).collect();
    let files: Vec<(&str, &str)> = files.iter().map(|(a, b)| (a.as_str(), b.as_str())).collect();
    let folder = folder(&files);
    let path = folder.path().join("f0.yaml");
    let options = LoadOptions { max_documents: 3, ..LoadOptions::default() };
    let (set, report) = load_set(path.to_str().unwrap(), &options).await;
    assert_eq!((set.unwrap().documents.len(), codes(&report)), (3, vec!["missing-document"]));
    let options = LoadOptions { max_total_bytes: 60, ..LoadOptions::default() };
    let (set, report) = load_set(path.to_str().unwrap(), &options).await;
    assert_eq!(codes(&report), ["missing-document"]);
    assert!(set.unwrap().documents.len() < 10);
}

#[tokio::test]
async fn sources_near_the_root_are_named_as_the_user_named_it() {
    let folder = folder(&[("root.yaml", "openapi: 3.1.0\na: {$ref: sub/x.yaml}\n"), ("sub/x.yaml", "a: 010\n")]);
    let given = folder.path().join("root.yaml");
    let (_, report) = load_set(given.to_str().unwrap(), &LoadOptions::default()).await;
    let name = &report.diagnostics[0].place.as_ref().unwrap().source.name;
    assert_eq!(Path::new(name), folder.path().join("sub/x.yaml"));
    let url = format!("file://{}", given.display());
    assert_eq!(load_set(&url, &LoadOptions::default()).await.0.unwrap().documents.len(), 2);
}

#[tokio::test]
async fn one_document_alone_and_whether_a_file_changed() {
    let folder = folder(&[("m.yaml", "version: 1\nx: {$ref: gone.yaml}\n")]);
    let path = folder.path().join("m.yaml");
    let options = LoadOptions::default();
    let (loaded, report) = load_document(path.to_str().unwrap(), &options).await;
    assert!(report.is_empty());
    let loaded = loaded.unwrap();
    assert_eq!(loaded.document.root["version"], 1);
    assert_eq!(changed(&loaded.freshness, &options).await, Some(false));
    std::fs::write(&path, "version: 1\nmore: text\n").unwrap();
    assert_eq!(changed(&loaded.freshness, &options).await, Some(true));
    std::fs::remove_file(&path).unwrap();
    assert_eq!(changed(&loaded.freshness, &options).await, None);
    let (_, freshness, _) = load_set_tracked(folder.path().join("none").to_str().unwrap(), &options).await;
    assert!(freshness.is_empty());
}

#[tokio::test]
async fn a_schema_named_without_a_pointer_is_explained() {
    let folder = folder(&[("root.yaml", "swagger: '2.0'\na: {$ref: Pet}\n")]);
    let (_, report) = load(&folder, "root.yaml", &[]).await;
    assert_eq!(codes(&report), ["missing-document"]);
    assert!(report.diagnostics[0].fix.as_ref().unwrap().contains("#/definitions/Pet"));
}

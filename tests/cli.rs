//! The command line through the real binary: what people and scripts see of it.

mod arazzo;
mod contracts;
mod helpers;
mod mappings;
mod probes;
mod secrets;
mod stdio;

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// A folder with files, and the program run in it.
pub struct Desk {
    folder: tempfile::TempDir,
    variables: Vec<(String, String)>,
}

/// What a run left behind.
pub struct Ran {
    pub code: i32,
    pub out: String,
    pub err: String,
}

impl Desk {
    pub fn new(files: &[(&str, &str)]) -> Desk {
        let desk = Desk { folder: tempfile::tempdir().unwrap(), variables: Vec::new() };
        for (name, text) in files {
            desk.write(name, text);
        }
        desk
    }

    pub fn with(mut self, name: &str, value: &str) -> Desk {
        self.variables.push((name.to_owned(), value.to_owned()));
        self
    }

    pub fn write(&self, name: &str, text: &str) {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    pub fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).unwrap()
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(program());
        command.args(arguments).current_dir(self.folder.path()).env_clear();
        command.envs(self.variables.iter().map(|(name, value)| (name, value)));
        command
    }

    pub fn run(&self, arguments: &[&str]) -> Ran {
        ran(self.command(arguments).stdin(Stdio::null()).output().unwrap())
    }

    /// Runs with this on standard input, which then ends.
    pub fn fed(&self, arguments: &[&str], input: &str) -> Ran {
        let mut child = self
            .command(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
        ran(child.wait_with_output().unwrap())
    }
}

fn ran(output: Output) -> Ran {
    Ran {
        code: output.status.code().unwrap(),
        out: String::from_utf8(output.stdout).unwrap(),
        err: String::from_utf8(output.stderr).unwrap(),
    }
}

pub fn program() -> &'static Path {
    Path::new(env!("CARGO_BIN_EXE_rest-mcp"))
}

/// A small document: one file by name, a list behind a key, a deletion.
pub const FILES: &str = r##"openapi: 3.0.3
info: { title: Files, version: "1" }
servers: [ { url: "https://files.example/v1" } ]
paths:
  /files/{name}:
    get:
      operationId: getFile
      summary: Read one file by its name.
      parameters:
        - { name: name, in: path, required: true, schema: { type: string } }
        - { name: rev, in: query, schema: { type: integer } }
      responses: { "200": { description: ok, content: { application/json: { schema: { type: object, properties: { name: { type: string } } }, example: { name: readme } } } } }
    delete:
      operationId: deleteFile
      summary: Remove one file for good.
      security: [ { key: [] } ]
      parameters:
        - { name: name, in: path, required: true, schema: { type: string } }
      responses: { "204": { description: gone } }
  /files:
    get:
      operationId: listFiles
      summary: List all files of the caller.
      security: [ { key: [] } ]
      responses: { "200": { description: ok, content: { application/json: { schema: { type: array, items: { type: string } }, example: [a, b] } } } }
  /bad:
    get:
      operationId: bad
      parameters: [ { $ref: "#/components/parameters/none" } ]
      responses: { "200": { description: ok } }
components:
  securitySchemes: { key: { type: apiKey, in: header, name: X-Key } }
"##;

//! `schema`: the JSON Schema of the mapping language or of the settings file, for editors.

use super::print;
use clap::{Args, ValueEnum};

#[derive(Debug, Args)]
pub(super) struct Schema {
    /// Which file format.
    #[arg(value_enum)]
    of: Of,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Of {
    /// Mapping files.
    Mapping,
    /// `rest-mcp.yaml`.
    Config,
}

impl Schema {
    pub(super) fn run(self) -> u8 {
        let schema = match self.of {
            Of::Mapping => crate::mapping::json_schema(),
            Of::Config => crate::config::json_schema(),
        };
        print(&format!("{}\n", serde_json::to_string_pretty(&schema).unwrap_or_default()));
        0
    }
}

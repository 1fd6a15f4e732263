//! `schema`: the JSON Schema of the mapping language or of the settings file, for editors; their keys as Markdown, for
//! people.

use super::print;
use clap::{Args, ValueEnum};

#[derive(Debug, Args)]
pub(super) struct Schema {
    /// Which file format.
    #[arg(value_enum)]
    of: Of,
    /// The keys as Markdown, for people.
    #[arg(long)]
    markdown: bool,
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
        if self.markdown {
            print(&match self.of {
                Of::Mapping => crate::mapping::reference::mapping(),
                Of::Config => crate::config::reference(),
            });
            return 0;
        }
        let schema = match self.of {
            Of::Mapping => crate::mapping::json_schema(),
            Of::Config => crate::config::json_schema(),
        };
        print(&format!("{}\n", serde_json::to_string_pretty(&schema).unwrap_or_default()));
        0
    }
}

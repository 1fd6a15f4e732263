//! `mock`: a REST backend that answers from a document's examples and schemas.

use super::{Files, load, show};
use clap::Args;
use tokio_util::sync::CancellationToken;

#[derive(Debug, Args)]
pub(super) struct Mock {
    /// OpenAPI document (path or URL).
    #[arg(value_name = "FILE")]
    file: String,
    /// Where to listen.
    #[arg(long, value_name = "ADDR", default_value = "127.0.0.1:8090")]
    listen: String,
}

impl Mock {
    pub(super) async fn run(self) -> u8 {
        let files =
            Files { files: vec![self.file.clone()], base_url: Some("http://127.0.0.1".to_string()), config: None };
        let (_, _, loaded) = load(&files).await;
        show(&loaded.report, false);
        let Some((_, api)) = loaded.apis.into_iter().next() else {
            eprintln!("error: `{}` holds no usable OpenAPI document", self.file);
            return 2;
        };
        let listener = match tokio::net::TcpListener::bind(&self.listen).await {
            Ok(listener) => listener,
            Err(error) => {
                eprintln!("error: can't listen on {}: {error}", self.listen);
                return 2;
            }
        };
        let address = listener.local_addr().map_or_else(|_| self.listen.clone(), |address| address.to_string());
        eprintln!("mock of {} {} on http://{address} ({} operations)", api.title, api.version, api.operations.len());
        let shutdown = CancellationToken::new();
        let stop = shutdown.clone();
        tokio::spawn(async move {
            super::serve::interrupted().await;
            stop.cancel();
        });
        match crate::mock::serve(api, listener, shutdown).await {
            Ok(()) => 0,
            Err(error) => {
                eprintln!("error: {error}");
                1
            }
        }
    }
}

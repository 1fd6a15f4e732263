//! Lines on standard input: whatever they hold, every line that comes back is one JSON-RPC message.
#![no_main]

use libfuzzer_sys::fuzz_target;
use rest_mcp::transport::{Settings, serve_stdio};
use serde_json::Value;
use std::cell::RefCell;
use std::sync::Arc;
use tokio::io::AsyncReadExt;
use tokio::runtime::{Builder, Runtime};
use tokio_util::sync::CancellationToken;

thread_local! {
    static RUNTIME: RefCell<Runtime> = RefCell::new(Builder::new_current_thread().enable_all().build().expect("runtime"));
}

fuzz_target!(|input: &[u8]| {
    let output = RUNTIME.with_borrow(|runtime| {
        runtime.block_on(async {
            let (mut ours, theirs) = tokio::io::duplex(1 << 20);
            let (settings, stop) = (Settings::default(), CancellationToken::new());
            let serving = serve_stdio(common::double::server(), &settings, input, theirs, stop);
            let mut output = Vec::new();
            let (served, read) = tokio::join!(serving, ours.read_to_end(&mut output));
            served.expect("no output error");
            read.expect("no input error");
            output
        })
    });
    for line in output.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
        let message: Value = serde_json::from_slice(line).expect("JSON");
        let all = Arc::new(message);
        for one in all.as_array().map_or(std::slice::from_ref(&*all), Vec::as_slice) {
            assert_eq!(one["jsonrpc"], "2.0");
        }
    }
});

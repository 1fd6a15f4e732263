//! Metrics, traces and trace context of one call.

use super::server::*;
use rest_mcp::mapping::Tls;
use rest_mcp::telemetry::trace::{McpRequest, Tracing};
use rest_mcp::telemetry::{Ids, Meters, Prometheus, Propagation};
use rest_mcp::upstream::SendOptions;
use rest_mcp::upstream::export::OtlpClient;
use std::time::Duration;

// Trace ids whose bytes are ASCII ("ABCDEFGHIJKLMNOP", "abcdefgh"): they can be found in a protobuf message.
const TRACE: &str = "4142434445464748494a4b4c4d4e4f50";
const PARENT: &str = "00-4142434445464748494a4b4c4d4e4f50-6162636465666768-01";

fn tools_call<'a>(incoming: &'a Propagation) -> McpRequest<'a> {
    McpRequest {
        method: "tools/call",
        target: Some("get_pet"),
        rpc_id: Some("17"),
        request_id: "req-42",
        session_id: None,
        protocol_version: Some("2026-07-28"),
        network_transport: "tcp",
        incoming,
    }
}

#[test]
fn trace_context_is_taken_over_only_if_well_formed() {
    for (parent, expected) in [
        (PARENT, Some(TRACE)),
        ("00-4142434445464748494a4b4c4d4e4f50-6162636465666768-00", Some(TRACE)),
        ("cc-4142434445464748494a4b4c4d4e4f50-6162636465666768-01-more", Some(TRACE)),
        ("00-4142434445464748494a4b4c4d4e4f50-6162636465666768-01-more", None),
        ("ff-4142434445464748494a4b4c4d4e4f50-6162636465666768-01", None),
        ("00-4142434445464748494A4B4C4D4E4F50-6162636465666768-01", None),
        ("00-00000000000000000000000000000000-6162636465666768-01", None),
        ("00-4142434445464748494a4b4c4d4e4f50-0000000000000000-01", None),
        ("00-4142-6162636465666768-01", None),
        ("nonsense", None),
        ("", None),
    ] {
        let propagation = Propagation::new(Some(parent), Some("a=1"), None);
        assert_eq!(propagation.trace_id(), expected, "{parent}");
        assert_eq!(propagation.get("tracestate").is_some(), expected.is_some(), "{parent}");
    }
    let evil = Propagation::new(None, None, Some("a=b\r\nx: y"));
    assert!(evil.is_empty());
}

#[tokio::test]
async fn without_a_tracer_the_client_s_context_goes_upstream_as_it_is() {
    let server = serve(|_, _| Act::Send(answer("200 OK", "", ""))).await;
    let incoming = Propagation::new(Some(PARENT), Some("v=1"), Some("user=ann"));
    let span = Tracing::off().begin(&tools_call(&incoming));
    assert_eq!(span.trace_id().as_deref(), Some(TRACE));
    let client = span.upstream(&http::Method::GET, Some("/pet/{id}"), "api");
    let options = SendOptions { trace: client.propagation(), ..idempotent() };
    let upstream = upstream(&server.url, limits());
    upstream.send(0, get(&server.url), &options).await.unwrap();
    let mut own = get(&server.url);
    own.headers.insert("traceparent", "own".parse().unwrap());
    upstream.send(0, own, &options).await.unwrap();
    let [first, second] = &server.requests()[..] else { panic!() };
    for field in [&format!("traceparent: {PARENT}\r\n"), "tracestate: v=1\r\n", "baggage: user=ann\r\n"] {
        assert!(first.contains(field), "{field}: {first}");
    }
    assert!(second.contains("traceparent: own\r\n"), "{second}");
}

#[tokio::test]
async fn the_collector_gets_the_span_of_the_call_with_the_client_s_trace_id() {
    let collector = serve(|_, _| Act::Send(answer("200 OK", "", ""))).await;
    let api = serve(|_, _| Act::Send(answer("200 OK", "", ""))).await;
    let tracing = Tracing::otlp(&collector.url, OtlpClient::new(&collector.url, Tls::default()).unwrap()).unwrap();
    let incoming = Propagation::new(Some(PARENT), Some("v=1"), Some("user=ann"));
    let span = tracing.begin(&tools_call(&incoming));
    assert_eq!(span.trace_id().as_deref(), Some(TRACE));
    let client = span.upstream(&http::Method::GET, Some("/pet/{id}"), "api");
    let options = SendOptions { trace: client.propagation(), ..idempotent() };
    let got = upstream(&api.url, limits()).send(0, get(&api.url), &options).await.unwrap();
    client.end(Ok(got.status.as_u16()));
    span.end(None);
    let dropped = tracing.begin(&McpRequest { target: Some("other_tool"), ..tools_call(&incoming) });
    drop(dropped);
    tracing.shutdown().await;
    // Upstream sees the same trace, but our span as parent.
    let request = &api.requests()[0];
    assert!(request.contains(&format!("traceparent: 00-{TRACE}-")) && !request.contains(PARENT), "{request}");
    assert!(request.contains("tracestate: v=1\r\n") && request.contains("baggage: user=ann\r\n"), "{request}");
    let requests = collector.requests();
    let traces = requests.iter().find(|text| text.starts_with("POST /v1/traces ")).unwrap();
    for part in [
        "ABCDEFGHIJKLMNOP",
        "tools/call get_pet",
        "mcp.method.name",
        "gen_ai.tool.name",
        "req-42",
        "GET /pet/{id}",
        "http.response.status_code",
        "tools/call other_tool",
        "cancelled",
        "rest-mcp",
    ] {
        assert!(traces.contains(part), "{part}: {traces}");
    }
    let metrics = requests.iter().find(|text| text.starts_with("POST /v1/metrics ")).unwrap();
    assert!(metrics.contains("mcp.server.operation.duration"), "{metrics}");
    assert!(metrics.contains("http.client.request.duration"), "{metrics}");
}

#[test]
fn open_metrics_name_the_call_that_was_counted_last() {
    let (recorder, prometheus) = Prometheus::build().unwrap();
    metrics::with_local_recorder(&recorder, || {
        let meters = Meters::default();
        for (request_id, trace_id) in [("req-1", None), ("req-2", Some("4142434445464748494a4b4c4d4e4f50"))] {
            meters.end("exemplified", "ok", Duration::from_millis(3), Duration::ZERO, Ids { request_id, trace_id });
        }
        let text = prometheus.render_open();
        let exemplar = "rest_mcp_calls_total{tool=\"exemplified\",outcome=\"ok\"} 2 # {request_id=\"req-2\",trace_id=\"4142434445464748494a4b4c4d4e4f50\"} 1 ";
        for part in [exemplar, "# TYPE rest_mcp_calls counter\n", "rest_mcp_call_seconds_bucket{le=\"1.0\"} 2\n"] {
            assert!(text.contains(part), "{part}: {text}");
        }
        assert!(!text.contains("\n\n") && text.ends_with("\n# EOF\n"), "{text}");
    });
}

#[test]
fn metrics_count_calls_by_tool_and_failures_by_kind() {
    let (recorder, prometheus) = Prometheus::build().unwrap();
    metrics::with_local_recorder(&recorder, || {
        let meters = Meters::default();
        let running = meters.begin();
        let ids = Ids { request_id: "req-1", trace_id: Some("4142434445464748494a4b4c4d4e4f50") };
        meters.end("get_pet", "ok", Duration::from_millis(30), Duration::from_millis(20), ids);
        meters.error("timeout");
        meters.denied("hidden");
        meters.reload("failed");
        meters.mismatch("get_pet");
        let source = rest_mcp::telemetry::SourceMeters::new("api");
        source.answered(404, Duration::from_millis(3));
        source.failed("tls");
        source.repeated();
        source.breaker(1);
        let text = prometheus.render();
        for line in [
            "rest_mcp_calls_total{tool=\"get_pet\",outcome=\"ok\"} 1",
            "rest_mcp_errors_total{kind=\"timeout\"} 1",
            "rest_mcp_denied_total{reason=\"hidden\"} 1",
            "rest_mcp_reloads_total{outcome=\"failed\"} 1",
            "rest_mcp_schema_mismatches_total{tool=\"get_pet\"} 1",
            "rest_mcp_calls_in_flight 1",
            "rest_mcp_call_seconds_bucket{le=\"0.05\"} 1",
            "rest_mcp_inside_seconds_bucket{le=\"0.005\"} 0",
            "rest_mcp_inside_seconds_bucket{le=\"0.025\"} 1",
            "rest_mcp_upstream_answers_total{source=\"api\",class=\"4xx\"} 1",
            "rest_mcp_upstream_errors_total{source=\"api\",kind=\"tls\"} 1",
            "rest_mcp_upstream_repeats_total{source=\"api\"} 1",
            "rest_mcp_upstream_breaker{source=\"api\"} 1",
        ] {
            assert!(text.lines().any(|found| found == line), "{line}\n{text}");
        }
        drop(running);
        assert!(prometheus.render().lines().any(|line| line == "rest_mcp_calls_in_flight 0"));
    });
}

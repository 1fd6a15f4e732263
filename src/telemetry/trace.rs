//! Traces and metrics over OTLP/HTTP, with the attributes of OpenTelemetry's semantic conventions
//! for MCP and HTTP clients.

use super::Propagation;
use super::propagation::parse_traceparent;
use opentelemetry::metrics::{Histogram, MeterProvider as _};
use opentelemetry::trace::{
    Span as _, SpanBuilder, SpanContext, SpanId, SpanKind, Status, TraceContextExt as _, TraceFlags, TraceId,
    TraceState, Tracer as _, TracerProvider as _,
};
use opentelemetry::{Context, KeyValue};
use opentelemetry_http::HttpClient;
use opentelemetry_otlp::{MetricExporter, SpanExporter, WithExportConfig as _, WithHttpConfig as _};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::metrics::SdkMeterProvider;
use opentelemetry_sdk::trace::{SdkTracer, SdkTracerProvider, Span as SdkSpan};
use std::str::FromStr;
use std::sync::Arc;
use std::time::Instant;

/// Makes spans, or does nothing. Cheap to clone.
#[derive(Clone, Default)]
pub struct Tracing(Option<Arc<Exporting>>);

struct Exporting {
    tracer: SdkTracer,
    traces: SdkTracerProvider,
    metrics: SdkMeterProvider,
    server_seconds: Histogram<f64>,
    client_seconds: Histogram<f64>,
}

/// One MCP request, as its span tells it.
#[derive(Debug, Clone, Copy)]
pub struct McpRequest<'a> {
    /// `tools/call`, …
    pub method: &'a str,
    /// Tool or prompt name; resource URI.
    pub target: Option<&'a str>,
    /// The JSON-RPC id.
    pub rpc_id: Option<&'a str>,
    /// The id in log, audit trail and error texts.
    pub request_id: &'a str,
    /// Legacy session.
    pub session_id: Option<&'a str>,
    /// Negotiated revision.
    pub protocol_version: Option<&'a str>,
    /// `pipe` (stdio) or `tcp`.
    pub network_transport: &'static str,
    /// Trace context of the client.
    pub incoming: &'a Propagation,
}

/// The span of one MCP request. Dropped without [`Span::end`], it ends as cancelled.
pub struct Span {
    live: Option<Box<LiveServer>>,
    incoming: Propagation,
}

struct LiveServer {
    context: Context,
    exporting: Arc<Exporting>,
    started: Instant,
    attributes: Vec<KeyValue>,
    ended: bool,
}

/// The span of one upstream request.
pub struct ClientSpan {
    live: Option<Box<LiveClient>>,
    propagation: Arc<Propagation>,
}

struct LiveClient {
    span: SdkSpan,
    exporting: Arc<Exporting>,
    started: Instant,
    attributes: Vec<KeyValue>,
}

impl Tracing {
    /// Nothing is recorded; trace context still goes upstream.
    pub fn off() -> Tracing {
        Tracing(None)
    }

    /// Exports to a collector, such as `http://127.0.0.1:4318` (OTLP/HTTP with protobuf; `/v1/traces`
    /// and `/v1/metrics` are added). Sampling and resource attributes follow the standard `OTEL_*`
    /// variables.
    ///
    /// # Errors
    /// A text: the endpoint is no URL.
    pub fn otlp(endpoint: &str, client: Arc<dyn HttpClient>) -> Result<Tracing, String> {
        let base = endpoint.trim_end_matches('/');
        let resource = Resource::builder()
            .with_service_name("rest-mcp")
            .with_attribute(KeyValue::new("service.version", env!("CARGO_PKG_VERSION")))
            .build();
        let spans = SpanExporter::builder()
            .with_http()
            .with_shared_http_client(client.clone())
            .with_endpoint(format!("{base}/v1/traces"))
            .build()
            .map_err(|error| error.to_string())?;
        let points = MetricExporter::builder()
            .with_http()
            .with_shared_http_client(client)
            .with_endpoint(format!("{base}/v1/metrics"))
            .build()
            .map_err(|error| error.to_string())?;
        let traces = SdkTracerProvider::builder().with_batch_exporter(spans).with_resource(resource.clone()).build();
        let metrics = SdkMeterProvider::builder().with_periodic_exporter(points).with_resource(resource).build();
        let meter = metrics.meter("rest-mcp");
        let seconds = |name: &'static str| meter.f64_histogram(name).with_unit("s").build();
        let (server_seconds, client_seconds) =
            (seconds("mcp.server.operation.duration"), seconds("http.client.request.duration"));
        let tracer = traces.tracer("rest-mcp");
        Ok(Tracing(Some(Arc::new(Exporting { tracer, traces, metrics, server_seconds, client_seconds }))))
    }

    /// True if spans are recorded.
    pub fn is_on(&self) -> bool {
        self.0.is_some()
    }

    /// Begins the span of a request.
    pub fn begin(&self, request: &McpRequest<'_>) -> Span {
        let live = self.0.as_ref().map(|exporting| Box::new(LiveServer::begin(exporting, request)));
        Span { live, incoming: request.incoming.clone() }
    }

    /// Sends what is left and stops. Blocks its own thread only, not the runtime.
    pub async fn shutdown(&self) {
        let Some(exporting) = self.0.clone() else { return };
        let stop = tokio::task::spawn_blocking(move || {
            let _ = exporting.traces.shutdown();
            let _ = exporting.metrics.shutdown();
        });
        let _ = stop.await;
    }
}

impl LiveServer {
    fn begin(exporting: &Arc<Exporting>, request: &McpRequest<'_>) -> LiveServer {
        let name = match request.target {
            Some(target) if request.method != "resources/read" => format!("{} {target}", request.method),
            _ => request.method.to_owned(),
        };
        let mut attributes = vec![
            KeyValue::new("mcp.method.name", request.method.to_owned()),
            KeyValue::new("network.transport", request.network_transport),
        ];
        let target_key = match request.method {
            "tools/call" => Some("gen_ai.tool.name"),
            "prompts/get" => Some("gen_ai.prompt.name"),
            _ => None,
        };
        if let (Some(key), Some(target)) = (target_key, request.target) {
            attributes.push(KeyValue::new(key, target.to_owned()));
        }
        let mut of_span = attributes.clone();
        let mut add = |key: &'static str, value: Option<&str>| {
            if let Some(value) = value {
                of_span.push(KeyValue::new(key, value.to_owned()));
            }
        };
        add("rest_mcp.request_id", Some(request.request_id));
        add("jsonrpc.request.id", request.rpc_id);
        add("mcp.session.id", request.session_id);
        add("mcp.protocol.version", request.protocol_version);
        add("mcp.resource.uri", request.target.filter(|_| request.method == "resources/read"));
        add("gen_ai.operation.name", Some("execute_tool").filter(|_| request.method == "tools/call"));
        let builder = SpanBuilder::from_name(name).with_kind(SpanKind::Server).with_attributes(of_span);
        let parent = parent_context(request.incoming);
        let span = exporting.tracer.build_with_context(builder, &parent);
        LiveServer {
            context: parent.with_span(span),
            exporting: exporting.clone(),
            started: Instant::now(),
            attributes,
            ended: false,
        }
    }

    fn end(&mut self, error: Option<&'static str>) {
        self.ended = true;
        let span = self.context.span();
        if let Some(error) = error {
            span.set_attribute(KeyValue::new("error.type", error));
            span.set_status(Status::error(error));
            self.attributes.push(KeyValue::new("error.type", error));
        }
        span.end();
        self.exporting.server_seconds.record(self.started.elapsed().as_secs_f64(), &self.attributes);
    }
}

impl Drop for LiveServer {
    fn drop(&mut self) {
        if !self.ended {
            self.end(Some("cancelled"));
        }
    }
}

/// The client's span as parent, if it sent one.
fn parent_context(incoming: &Propagation) -> Context {
    let context = Context::new();
    let parent = incoming.get("traceparent").and_then(parse_traceparent).and_then(|parent| {
        Some(SpanContext::new(
            TraceId::from_hex(parent.trace_id).ok()?,
            SpanId::from_hex(parent.parent_id).ok()?,
            if parent.sampled { TraceFlags::SAMPLED } else { TraceFlags::default() },
            true,
            incoming.get("tracestate").and_then(|state| TraceState::from_str(state).ok()).unwrap_or_default(),
        ))
    });
    match parent {
        Some(parent) => context.with_remote_span_context(parent),
        None => context,
    }
}

impl Span {
    /// The trace id, 32 hexadecimal digits: of this span, else of the client's.
    pub fn trace_id(&self) -> Option<String> {
        match &self.live {
            Some(live) => Some(live.context.span().span_context().trace_id().to_string()),
            None => self.incoming.trace_id().map(str::to_owned),
        }
    }

    /// Begins a span around one upstream request. `template` is the path template, never the path.
    pub fn upstream(&self, method: &http::Method, template: Option<&str>, source: &str) -> ClientSpan {
        let Some(server) = &self.live else {
            return ClientSpan { live: None, propagation: Arc::new(self.incoming.clone()) };
        };
        let name = match template {
            Some(template) => format!("{method} {template}"),
            None => method.to_string(),
        };
        let mut attributes = vec![
            KeyValue::new("http.request.method", method.to_string()),
            KeyValue::new("rest_mcp.source", source.to_owned()),
        ];
        if let Some(template) = template {
            attributes.push(KeyValue::new("url.template", template.to_owned()));
        }
        let builder = SpanBuilder::from_name(name).with_kind(SpanKind::Client).with_attributes(attributes.clone());
        let span = server.exporting.tracer.build_with_context(builder, &server.context);
        let context = span.span_context();
        let parent = format!("00-{}-{}-{:02x}", context.trace_id(), context.span_id(), context.trace_flags().to_u8());
        let state = context.trace_state().header();
        let state = Some(state.as_str()).filter(|state| !state.is_empty());
        let propagation = Arc::new(Propagation::new(Some(&parent), state, self.incoming.get("baggage")));
        let live = LiveClient { span, exporting: server.exporting.clone(), started: Instant::now(), attributes };
        ClientSpan { live: Some(Box::new(live)), propagation }
    }

    /// The request is over; `error` is one of a fixed set.
    pub fn end(mut self, error: Option<&'static str>) {
        self.finish(error);
    }

    /// As [`Span::end`], where the span is still borrowed elsewhere; only the first end counts.
    pub fn finish(&mut self, error: Option<&'static str>) {
        if let Some(live) = self.live.as_mut().filter(|live| !live.ended) {
            live.end(error);
        }
    }
}

impl ClientSpan {
    /// The headers that go upstream: this span's, or the client's own where nothing is recorded.
    pub fn propagation(&self) -> Option<Arc<Propagation>> {
        (!self.propagation.is_empty()).then(|| self.propagation.clone())
    }

    /// The upstream request is over: its status, or the kind of its failure.
    pub fn end(self, result: Result<u16, &'static str>) {
        let Some(mut live) = self.live else { return };
        let status = result.unwrap_or_default();
        if status > 0 {
            live.attributes.push(KeyValue::new("http.response.status_code", i64::from(status)));
            live.span.set_attribute(KeyValue::new("http.response.status_code", i64::from(status)));
        }
        let error = match result {
            Err(kind) => Some(kind.to_owned()),
            Ok(status) if status >= 400 => Some(status.to_string()),
            Ok(_) => None,
        };
        if let Some(error) = error {
            live.span.set_attribute(KeyValue::new("error.type", error.clone()));
            live.span.set_status(Status::error(error.clone()));
            live.attributes.push(KeyValue::new("error.type", error));
        }
        live.span.end();
        live.exporting.client_seconds.record(live.started.elapsed().as_secs_f64(), &live.attributes);
    }
}

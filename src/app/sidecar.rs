//! The running server: parts made from the settings, swapped by reloads.

use super::{
    LoadThread, Loaded, MockEnvironment, Setup, callers, captured_headers, load_with, protocol_settings, refused,
    routes,
};
use crate::audit::{self, ArgumentsMode, Audit, Target};
use crate::catalog::Catalog;
use crate::config::{AuditArguments, address};
use crate::document::location;
use crate::mapping::{Environment, Slot, Tls};
use crate::protocol::Server;
use crate::reload::{Diff, Reloadable, Times, Watched};
use crate::service::state::StateKey;
use crate::service::{BoxFuture, Change, Observer, Service, State};
use crate::telemetry::trace::Tracing;
use crate::telemetry::{Meters, Prometheus};
use crate::transport::identity::Authenticator;
use crate::transport::identity::door::Door;
use crate::transport::tls::{ServerTls, TlsFiles};
use crate::transport::{self, Sessions};
use crate::upstream::Upstream;
use crate::upstream::export::OtlpClient;
use crate::upstream::limits::TenantRates;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// Old audit files that are kept at most.
const MOST_KEPT: usize = 1000;
/// How often metrics are summed up.
const UPKEEP: Duration = Duration::from_secs(5);

/// What watches the server; made first, since metrics are handed out while the parts are made.
pub struct Telemetry {
    audit: Arc<Audit>,
    tracing: Tracing,
    prometheus: Option<Prometheus>,
}

impl Telemetry {
    /// Opens the audit trail, the recorder of metrics and the exporter, as the settings say. Needs a runtime.
    ///
    /// # Errors
    /// Every problem as one text.
    pub fn start(setup: &Setup) -> Result<Telemetry, Vec<String>> {
        let config = &setup.config;
        let environment = setup.environment.as_ref();
        let mut problems = Vec::new();
        let prometheus = match config.telemetry.metrics.is_some() {
            true => recorder().map_err(|problem| problems.push(format!("telemetry.metrics: {problem}"))).ok(),
            false => None,
        };
        let audit = match &config.audit {
            None => Audit::off(),
            Some(rules) => rules
                .to
                .resolve_public(environment)
                .map_err(|error| error.to_string())
                .and_then(|to| {
                    let rotate = rules.rotate.clone().unwrap_or_default();
                    let keep = u32::try_from(rotate.keep.min(MOST_KEPT)).unwrap_or_default();
                    let target = match to.as_str() {
                        "stderr" => Target::Stderr,
                        path => Target::File { path: setup.path(path), max_bytes: rotate.max_size.0, keep },
                    };
                    let arguments = match rules.arguments {
                        AuditArguments::Redacted => ArgumentsMode::Redacted,
                        AuditArguments::Full => ArgumentsMode::Full,
                        AuditArguments::None => ArgumentsMode::None,
                    };
                    let settings = audit::Settings { target, arguments, redact: Vec::new() };
                    Audit::start(settings).map_err(|error| format!("`{to}` can't be written: {}", error.kind()))
                })
                .unwrap_or_else(|problem| {
                    problems.push(format!("audit.to: {problem}"));
                    Audit::off()
                }),
        };
        let tracing = match &config.telemetry.otlp {
            None => Tracing::off(),
            Some(slot) => exporter(slot, environment).unwrap_or_else(|found| {
                problems.extend(found.into_iter().map(|problem| format!("telemetry.otlp: {problem}")));
                Tracing::off()
            }),
        };
        if problems.is_empty() { Ok(Telemetry { audit: Arc::new(audit), tracing, prometheus }) } else { Err(problems) }
    }
}

/// The process's one recorder, made on first use.
fn recorder() -> Result<Prometheus, String> {
    static RECORDER: OnceLock<Result<Prometheus, String>> = OnceLock::new();
    RECORDER.get_or_init(Prometheus::install).clone()
}

fn exporter(slot: &Slot, environment: &dyn Environment) -> Result<Tracing, Vec<String>> {
    let endpoint = slot.resolve_public(environment).map_err(|error| vec![error.to_string()])?;
    let client = OtlpClient::new(&endpoint, Tls::default())?;
    Tracing::otlp(&endpoint, client).map_err(|problem| vec![problem])
}

/// The running server.
pub struct Sidecar {
    service: Arc<Service>,
    server: Arc<Server>,
    door: Arc<Door>,
    tls: Option<Arc<ServerTls>>,
    telemetry: Telemetry,
    meters: Meters,
    ready: Arc<AtomicBool>,
    /// Base URLs of mocks, which reloads keep.
    urls: Vec<(String, Slot)>,
    strict: bool,
    loader: LoadThread,
    now: Mutex<Now>,
}

/// What the last reload left.
struct Now {
    setup: Arc<Setup>,
    watched: Watched,
    /// Equal while callers are recognised alike.
    identity: String,
}

/// Everything that one load makes.
struct Made {
    state: State,
    authenticator: Arc<Authenticator>,
    identity: String,
}

impl Sidecar {
    /// Makes every part. `loaded` has passed [`refused`].
    ///
    /// # Errors
    /// Every problem as one text.
    pub fn new(
        setup: Setup,
        loaded: Loaded,
        telemetry: Telemetry,
        urls: Vec<(String, Slot)>,
        strict: bool,
        loader: LoadThread,
    ) -> Result<Arc<Sidecar>, Vec<String>> {
        let key = setup.config.state_key(setup.environment.as_ref()).map_err(|problem| vec![problem])?;
        let tls = tls(&setup)?;
        let mut protocol = protocol_settings(&loaded.catalog);
        protocol.state_key = key.clone().unwrap_or_default();
        protocol.private_lists = !setup.config.is_open();
        let config = &setup.config;
        protocol.watch_every = config.subscriptions.every.0;
        protocol.max_watched = config.subscriptions.max;
        protocol.max_tasks = config.tasks.max;
        protocol.task_retention = config.tasks.retention.0;
        // A task lives in one process: where every replica answers every request, the next one would not know it.
        if !setup.config.legacy_sessions.enabled {
            protocol.max_tasks = 0;
        }
        let files = watched(&setup, &loaded, tls.as_deref());
        let captured = captured_headers(&loaded.catalog);
        let upstream = Upstream::new(&loaded.catalog.sources)?;
        let made = make(&setup, loaded.catalog, upstream, None)?;
        made.authenticator.keep_headers(captured);
        let observer =
            Observer::new(telemetry.audit.clone(), telemetry.tracing.clone(), telemetry.prometheus.is_some());
        let service = Arc::new(Service::new(made.state, StateKey::new(key.as_deref())).observed(observer));
        let server = Server::new(service.clone(), protocol).map_err(|error| vec![error.to_string()])?;
        let door = Arc::new(Door::new(made.authenticator, telemetry.audit.clone()));
        Ok(Arc::new(Sidecar {
            service,
            server: Arc::new(server),
            door,
            tls,
            telemetry,
            meters: Meters::default(),
            ready: Arc::new(AtomicBool::new(true)),
            urls,
            strict,
            loader,
            now: Mutex::new(Now { setup: Arc::new(setup), watched: files, identity: made.identity }),
        }))
    }

    /// Answers messages, for any transport.
    pub fn server(&self) -> Arc<Server> {
        self.server.clone()
    }

    /// The service behind it.
    pub fn service(&self) -> &Arc<Service> {
        &self.service
    }

    fn setup(&self) -> Arc<Setup> {
        self.now.lock().unwrap_or_else(PoisonError::into_inner).setup.clone()
    }

    /// True if connections are TLS.
    pub fn is_tls(&self) -> bool {
        self.tls.is_some()
    }

    /// How the transports are served.
    pub fn transport(&self) -> transport::Settings {
        let setup = self.setup();
        let config = &setup.config;
        let mut extra = routes::metadata(&self.door.authenticator());
        let own_listener = config.telemetry.listen.is_some();
        if let (Some(path), Some(prometheus), false) =
            (&config.telemetry.metrics, &self.telemetry.prometheus, own_listener)
        {
            extra = extra.merge(routes::guarded_metrics(path, prometheus.clone(), self.door.clone()));
        }
        let transports = &config.transports;
        let from_file = setup.file.is_some();
        let fallback = transport::Settings::default();
        transport::Settings {
            mcp_path: Some(transports.streamable_http.clone()),
            // Without a settings file everything is on, for whatever client comes along.
            sse_path: if from_file { transports.sse.clone() } else { fallback.sse_path.clone() },
            messages_path: transports
                .sse
                .as_ref()
                .map_or(fallback.messages_path.clone(), |path| format!("{path}/messages")),
            websocket_path: if from_file { transports.websocket.clone() } else { fallback.websocket_path.clone() },
            max_body: usize::try_from(config.limits.max_body.0).unwrap_or(usize::MAX),
            max_frame: usize::try_from(config.limits.max_frame.0).unwrap_or(usize::MAX),
            max_connections: config.limits.connections,
            stall_timeout: config.limits.stall.0,
            max_requests: config.limits.in_flight,
            sessions: Sessions {
                enabled: config.legacy_sessions.enabled,
                idle: config.legacy_sessions.idle.0,
                max: config.legacy_sessions.max,
            },
            origins: config.origins.clone(),
            hosts: config.hosts.clone(),
            grace: config.limits.drain.0,
            authenticator: self.door.clone(),
            tls: self.tls.clone().map(|tls| tls as Arc<dyn transport::Handshake>),
            extra,
            ready: self.ready.clone(),
            ..fallback
        }
    }

    /// Keeps metrics small, and serves them with health on their own listener, if the settings name one, until `stop`.
    ///
    /// # Errors
    /// One text: the address can't be used.
    pub async fn observe(&self, stop: CancellationToken) -> Result<Option<SocketAddr>, String> {
        if let Some(prometheus) = self.telemetry.prometheus.clone() {
            let stop = stop.clone();
            tokio::spawn(async move {
                while tokio::time::timeout(UPKEEP, stop.cancelled()).await.is_err() {
                    prometheus.upkeep();
                }
            });
        }
        let setup = self.setup();
        let telemetry = &setup.config.telemetry;
        let Some(slot) = &telemetry.listen else { return Ok(None) };
        let address = address("telemetry.listen", slot, setup.environment.as_ref())?;
        let listening = async {
            let listener = tokio::net::TcpListener::bind(address).await?;
            Ok::<_, std::io::Error>((listener.local_addr()?, listener))
        };
        let (address, listener) = listening.await.map_err(|error| format!("telemetry.listen: {error}"))?;
        let router = routes::open(telemetry.metrics.as_deref(), self.telemetry.prometheus.clone(), self.ready.clone());
        tokio::spawn(async move {
            let served = axum::serve(listener, router).with_graceful_shutdown(async move { stop.cancelled().await });
            if let Err(error) = served.await {
                tracing::error!(%error, "metrics and health are not served any more");
            }
        });
        Ok(Some(address))
    }

    /// When changes are looked for.
    pub fn times(&self) -> Times {
        let reload = &self.setup().config.reload;
        Times { watch: reload.watch, quiet: reload.debounce.0, poll: reload.poll.0 }
    }

    /// Not ready any more; waits until load balancers have noticed.
    pub async fn retire(&self) {
        self.ready.store(false, Ordering::Relaxed);
        let delay = self.setup().config.limits.drain_delay.0;
        if !delay.is_zero() {
            tokio::time::sleep(delay).await;
        }
    }

    /// Writes and sends what is still held.
    pub async fn finish(&self) {
        self.telemetry.tracing.shutdown().await;
        let audit = self.telemetry.audit.clone();
        let _ = tokio::task::spawn_blocking(move || audit.flush(Duration::from_secs(5))).await;
    }

    /// Reads, validates and swaps; gives the old state. The error says why it stays.
    async fn renew(&self) -> Result<(Diff, Arc<State>), String> {
        let (setup, report) = self.setup().again().await;
        let Some(setup) = setup else { return Err(report.render(false)) };
        let (mut inputs, mut report) = setup.inputs().await;
        inputs.unmocked = self.urls.is_empty();
        let (plain, mocked) = (setup.environment.as_ref(), MockEnvironment(setup.environment.as_ref()));
        let environment: &dyn Environment = if self.urls.is_empty() { plain } else { &mocked };
        let loaded = load_with(&inputs, environment, &self.urls).await;
        report.merge(loaded.report.clone());
        let files = watched(&setup, &loaded, self.tls.as_deref());
        if refused(&report, self.strict) || inputs.list.is_empty() {
            // What was tried is watched too: that is where it will be mended.
            let mut now = self.now.lock().unwrap_or_else(PoisonError::into_inner);
            now.watched.files.extend(files.files);
            return Err(report.render(false));
        }
        let old = self.service.state();
        let upstream = old.upstream.renew(&loaded.catalog.sources).map_err(|problems| problems.join("; "))?;
        let diff = Diff::between(&old.catalog, &loaded.catalog);
        let captured = captured_headers(&loaded.catalog);
        let before = self.setup();
        let same_rates = callers::rate_texts(&before).eq(callers::rate_texts(&setup));
        let rates = same_rates.then(|| old.rates.clone());
        let made = make(&setup, loaded.catalog, upstream, rates).map_err(|problems| problems.join("; "))?;
        let rules = |setup: &Setup| format!("{:?} {:?}", setup.config.access.tenants, setup.config.access.policy);
        let mut changes = diff.changes();
        if rules(&before) != rules(&setup) && !changes.contains(&Change::Tools) {
            changes.push(Change::Tools);
        }
        self.server.prepare(made.state.catalog.clone());
        let mut now = self.now.lock().unwrap_or_else(PoisonError::into_inner);
        if now.identity == made.identity {
            self.door.authenticator().keep_headers(captured);
        } else {
            made.authenticator.keep_headers(captured);
            self.door.replace(made.authenticator);
        }
        *now = Now { setup: Arc::new(setup), watched: files, identity: made.identity };
        self.service.replace(made.state, &changes);
        Ok((diff, old))
    }
}

impl Reloadable for Sidecar {
    fn watched(&self) -> Watched {
        let now = self.now.lock().unwrap_or_else(PoisonError::into_inner);
        let mut watched = now.watched.clone();
        watched.files.extend(now.setup.watched());
        watched
    }

    fn reload(self: Arc<Self>) -> BoxFuture<'static, bool> {
        Box::pin(async move {
            let tls = self.tls.as_ref().map_or(Ok(()), |tls| tls.reload());
            if let Err(problems) = &tls {
                tracing::error!(problems = problems.join("; "), "certificates were not reloaded; the old ones stay");
            }
            let sidecar = self.clone();
            let work = || async move { sidecar.renew().await };
            let renewed = self.loader.beside_calls(work).await.and_then(|renewed| renewed);
            let (renewed, old) =
                renewed.map_or_else(|problems| (Err(problems), None), |(diff, old)| (Ok(diff), Some(old)));
            self.loader.free_later(old);
            match &renewed {
                Ok(diff) if diff.is_empty() => tracing::info!("reloaded, no tool changed"),
                Ok(diff) => {
                    tracing::info!(added = ?diff.added, removed = ?diff.removed, changed = ?diff.changed, "reloaded");
                }
                Err(problems) => tracing::error!(%problems, "not reloaded; the last good state stays"),
            }
            let good = tls.is_ok() && renewed.is_ok();
            self.meters.reload(match &renewed {
                Ok(diff) if good => {
                    if diff.is_empty() {
                        "unchanged"
                    } else {
                        "ok"
                    }
                }
                _ => "failed",
            });
            good
        })
    }
}

/// Everything that follows from settings and catalog.
fn make(
    setup: &Setup,
    catalog: Catalog,
    upstream: Upstream,
    rates: Option<Arc<TenantRates>>,
) -> Result<Made, Vec<String>> {
    let mut problems = Vec::new();
    let mut keep = |found: Vec<String>| problems.extend(found);
    let gate = callers::gate(setup).map_err(&mut keep).ok();
    let tenants = callers::tenants(setup, &catalog).map_err(&mut keep).ok();
    let authenticator = callers::identity(setup).and_then(Authenticator::new).map_err(&mut keep).ok();
    let rates = match rates {
        Some(rates) => Some(rates),
        None => callers::rates(setup).map(Arc::new).map_err(&mut keep).ok(),
    };
    let (Some(gate), Some(tenants), Some(authenticator), Some(rates)) = (gate, tenants, authenticator, rates) else {
        return Err(problems);
    };
    let mut state = State::new(Arc::new(catalog), Arc::new(upstream), gate);
    state.tenants = tenants;
    state.rates = rates;
    Ok(Made { state, authenticator: Arc::new(authenticator), identity: callers::identity_fingerprint(setup) })
}

/// Everything that keeps these settings from being served; `check` asks without serving.
pub fn settings_problems(setup: &Setup, catalog: &Catalog) -> Vec<String> {
    let environment = setup.environment.as_ref();
    let one = |result: Result<(), String>| result.err().into_iter();
    let many = |result: Result<(), Vec<String>>| result.err().into_iter().flatten();
    let telemetry = setup
        .config
        .telemetry
        .listen
        .as_ref()
        .map_or(Ok(()), |slot| address("telemetry.listen", slot, environment).map(drop));
    one(reachable(setup, None).map(drop))
        .chain(one(telemetry))
        .chain(one(setup.config.state_key(environment).map(drop)))
        .chain(many(tls(setup).map(drop)))
        .chain(many(callers::identity(setup).and_then(Authenticator::new).map(drop)))
        .chain(many(callers::gate(setup).map(drop)))
        .chain(many(callers::tenants(setup, catalog).map(drop)))
        .chain(many(callers::rates(setup).map(drop)))
        .collect()
}

/// The address to listen on: `listen` of the command line, else the settings'.
///
/// # Errors
/// One text: no address, or one that others reach while nothing says who may call.
pub fn reachable(setup: &Setup, listen: Option<&str>) -> Result<SocketAddr, String> {
    let environment = setup.environment.as_ref();
    let address = match listen {
        Some(text) => address("--listen", &Slot(text.to_owned()), environment)?,
        None => setup.config.address(environment)?,
    };
    if !address.ip().is_loopback() && setup.config.is_open() && !setup.config.allow_public {
        return Err(format!(
            "{address} is reachable from other machines and nothing says who may call; listen on a loopback address, add \
             `access:` to {}, or say `allow_public: true` there",
            super::SETTINGS_FILE
        ));
    }
    Ok(address)
}

fn tls(setup: &Setup) -> Result<Option<Arc<ServerTls>>, Vec<String>> {
    let Some(tls) = &setup.config.tls else { return Ok(None) };
    let mut problems = Vec::new();
    let mut path = |key: &str, slot: &Slot| match slot.resolve_public(setup.environment.as_ref()) {
        Ok(path) => setup.path(&path),
        Err(error) => {
            problems.push(format!("tls.{key}: {error}"));
            Default::default()
        }
    };
    let access = &setup.config.access;
    let other_ways = !access.api_keys.is_empty()
        || access.jwt.is_some()
        || access.anonymous == Some(crate::config::Anonymous::Allow);
    let files = TlsFiles {
        cert: path("cert", &tls.cert),
        key: path("key", &tls.key),
        client_ca: tls.client_ca.as_ref().map(|slot| path("client_ca", slot)),
        // Where `mtls` is one of several ways in, a caller without a certificate must show something else.
        client_optional: access.mtls.is_some() && other_ways,
    };
    if !problems.is_empty() {
        return Err(problems);
    }
    ServerTls::load(files).map(|tls| Some(Arc::new(tls)))
}

/// Everything that was read, and what would be.
fn watched(setup: &Setup, loaded: &Loaded, tls: Option<&ServerTls>) -> Watched {
    let mut files = setup.watched();
    files.extend(loaded.files.iter().filter(|file| !location::is_url(file)).map(Into::into));
    for source in &loaded.catalog.sources {
        let tls = &source.tls;
        files.extend([&tls.ca, &tls.cert, &tls.key].into_iter().flatten().map(Into::into));
    }
    files.extend(tls.into_iter().flat_map(ServerTls::watched).map(ToOwned::to_owned));
    let urls = loaded.freshness.iter().filter(|one| location::is_url(&one.location)).cloned().collect();
    Watched { files, urls }
}

//! The `rmcp` handler: maps protocol requests to tools, resources and prompts.

use super::answer::{ToolAnswer, ToolError};
use super::log::ClientLog;
use super::resources::{self, ResourceError};
use super::tools::{ErrorFormat, Tool, ToolEffect, ToolOffer, ToolProgress};
use super::{bridge, prompts};
use crate::serve::{self, WatchEvent, WatchWarning, WorkspaceFactory};
use lorelane_core::fence;
use lorelane_core::json::Object;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, CustomRequest, CustomResult,
    DiscoverResult, ErrorCode, ErrorData, GetPromptRequestParams, GetPromptResponse, GetPromptResult,
    Implementation, InitializeRequestParams, InitializeResult, ListPromptsResult,
    ListResourceTemplatesResult, ListResourcesResult, ListToolsResult, PaginatedRequestParams,
    ProgressNotificationParam, ProgressToken, Prompt, PromptArgument, PromptMessage, ProtocolVersion,
    ReadResourceRequestParams, ReadResourceResponse, ReadResourceResult, Resource, ResourceContents,
    ResourceTemplate, ResourceUpdatedNotificationParam, Role, ServerCapabilities, ServerConfig,
    SubscribeRequestParams, SubscriptionFilter, ToolAnnotations, UnsubscribeRequestParams,
};
use rmcp::service::{NotificationContext, Peer, RequestContext, SubscriptionContext};
use rmcp::{RoleServer, ServerHandler};
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::sync::broadcast::Sender;
use tokio::sync::broadcast::error::RecvError;
use tokio::sync::{mpsc, watch};

/// How long a progress notification may take: a client that does not read must not hold up its own answer.
const NOTICE_DEADLINE: Duration = Duration::from_millis(300);
/// Subscriptions per connection.
const SUBSCRIPTIONS_MAX: usize = 1000;

/// The state of one connection. What all connections share is behind an `Arc`.
#[derive(Debug)]
pub(super) struct Server {
    factory: Arc<WorkspaceFactory>,
    offer: ToolOffer,
    changes: Sender<Arc<WatchEvent>>,
    /// The resources that this client subscribed to.
    subscribed: Arc<Mutex<BTreeSet<String>>>,
    log: ClientLog,
    /// True once the client has disconnected: ends its `listen` streams.
    gone: Arc<watch::Sender<bool>>,
}

impl Server {
    pub(super) fn new(factory: Arc<WorkspaceFactory>, offer: ToolOffer) -> Server {
        let changes = serve::follow_files(&factory);
        let (subscribed, log, gone) = Default::default();
        Server { factory, offer, changes, subscribed, log, gone }
    }

    /// A server for another connection: the same project, its own subscriptions.
    pub(super) fn for_another(&self) -> Server {
        Server {
            factory: Arc::clone(&self.factory),
            offer: self.offer.clone(),
            changes: self.changes.clone(),
            subscribed: Arc::default(),
            log: ClientLog::default(),
            gone: Arc::default(),
        }
    }

    /// The flag that the transport sets when its client disconnects.
    pub(super) fn gone(&self) -> Arc<watch::Sender<bool>> {
        Arc::clone(&self.gone)
    }

    /// Runs blocking work on a worker thread. A request that is cancelled while it is queued never starts; one
    /// that has started is finished and its answer dropped, so that no change is half done.
    async fn work<T: Send + 'static>(
        &self,
        context: &RequestContext<RoleServer>,
        job: impl FnOnce(&WorkspaceFactory) -> T + Send + 'static,
    ) -> Result<T, ErrorData> {
        let factory = Arc::clone(&self.factory);
        let mut task = tokio::task::spawn_blocking(move || job(&factory));
        tokio::select! {
            done = &mut task => done.map_err(|_| ErrorData::internal_error("the request failed: internal error", None)),
            () = context.ct.cancelled() => {
                task.abort();
                Err(ErrorData::internal_error("the request was cancelled", None))
            }
        }
    }
}

impl ServerHandler for Server {
    #[expect(deprecated, reason = "clients of the older protocol ask whether there is a log")]
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder()
            .enable_tools()
            .enable_prompts()
            .enable_resources()
            .enable_resources_list_changed()
            .enable_resources_subscribe()
            .enable_logging()
            .build();
        let own = Implementation::new("lorelane", env!("CARGO_PKG_VERSION")).with_title("lorelane memory");
        ServerConfig::new(capabilities).with_server_info(own).with_instructions(self.offer.instructions())
    }

    /// The newest protocol has no logging capability.
    async fn discover(&self, _: RequestContext<RoleServer>) -> Result<DiscoverResult, ErrorData> {
        let mut info = self.get_info();
        info.capabilities.logging = None;
        Ok(DiscoverResult::from_server_info(self.supported_protocol_versions().into_owned(), info))
    }

    /// Stores the negotiated version, not the requested one.
    async fn initialize(
        &self,
        mut request: InitializeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<InitializeResult, ErrorData> {
        let result = self.negotiate_initialize(&request)?;
        request.protocol_version = result.protocol_version.clone();
        context.peer.set_peer_info(request);
        Ok(result)
    }

    async fn list_tools(
        &self,
        request: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        only_page(request)?;
        Ok(ListToolsResult::with_all_items(self.offer.tools().map(described).collect()))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let Some((tool, tools)) = self.offer.find(&request.name) else {
            // A tool error, not a protocol error: clients show a model only results, and it can fix what it reads.
            let known: Vec<&str> = self.offer.tools().map(|tool| tool.name).collect();
            let what = format!("there is no tool `{}`", request.name);
            let unknown = ToolError::new(what, format!("call one of {}", known.join(", ")));
            return Ok(failed(&unknown, ErrorFormat::Plain).into());
        };
        let Some(sent) = bridge::from_client(request.arguments) else {
            let unread = ToolError::new("cannot read the arguments", "nest them less deeply");
            return Ok(failed(&unread, tool.voice).into());
        };
        let (told, mut heard) = mpsc::unbounded_channel();
        let token = context.meta.get_progress_token();
        let job = self.work(&context, move |factory| {
            tool.call(factory, sent, tools, &|progress| {
                let _ = told.send(progress);
            })
        });
        let mut job = std::pin::pin!(job);
        // `biased`: progress that was sent before the answer is delivered before it.
        let outcome = loop {
            tokio::select! {
                biased;
                Some(progress) = heard.recv() => {
                    if let Some(token) = token.clone() {
                        let notice = context.peer.notify_progress(told_as(token, progress));
                        let _ = tokio::time::timeout(NOTICE_DEADLINE, notice).await;
                    }
                }
                outcome = &mut job => break outcome?,
            }
        };
        let result = match outcome {
            Ok(ToolAnswer::Text(text)) => CallToolResult::success(vec![ContentBlock::text(text)]),
            Ok(ToolAnswer::Document(document)) => CallToolResult::structured(document),
            Ok(ToolAnswer::Verbatim { text, document }) => {
                let mut result = CallToolResult::structured(document);
                result.content = vec![ContentBlock::text(text)];
                result
            }
            Err(error) => failed(&error, tool.voice),
        };
        Ok(result.into())
    }

    async fn list_resources(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        let after = request.and_then(|request| request.cursor);
        let listed = self.work(&context, move |factory| resources::list(factory, after.as_deref())).await?;
        let (page, next) = listed.map_err(|fault| refused(fault, "the resources"))?;
        let page = page.into_iter().map(|listed| {
            let mime = resources::mime(&listed.address);
            Resource::new(listed.uri, fence::name(&listed.address.to_string()))
                .with_title(listed.title)
                .with_description(listed.about)
                .with_mime_type(mime)
        });
        let mut result = ListResourcesResult::with_all_items(page.collect());
        result.next_cursor = next;
        Ok(result)
    }

    async fn list_resource_templates(
        &self,
        request: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        only_page(request)?;
        let record = ResourceTemplate::new(resources::RECORD_TEMPLATE, "record")
            .with_title("One memory")
            .with_description("A memory by category and slug: the contents of its file")
            .with_mime_type(resources::RECORD_MIME);
        let note = ResourceTemplate::new(resources::NOTE_TEMPLATE, "note")
            .with_title("One note")
            .with_description("A note by its path without `.md`: the contents of its file")
            .with_mime_type(resources::NOTE_MIME);
        Ok(ListResourceTemplatesResult::with_all_items(vec![record, note]))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let uri = request.uri.clone();
        let read = self.work(&context, move |factory| resources::read(factory, &uri)).await?;
        let (text, mime) = read.map_err(|fault| refused(fault, &request.uri))?;
        let contents = ResourceContents::text(text, request.uri).with_mime_type(mime);
        Ok(ReadResourceResult::new(vec![contents]).into())
    }

    async fn list_prompts(
        &self,
        request: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        only_page(request)?;
        let prompts = prompts::of(&self.offer).map(|prompt| {
            let takes = prompt.takes.iter().map(|argument| {
                PromptArgument::new(argument.name)
                    .with_description(argument.about)
                    .with_required(argument.required)
            });
            Prompt::new(prompt.name, Some(prompt.about), Some(takes.collect())).with_title(prompt.title)
        });
        Ok(ListPromptsResult::with_all_items(prompts.collect()))
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        let named = prompts::of(&self.offer).find(|prompt| prompt.name == request.name);
        let Some(prompt) = named else {
            return Err(ErrorData::invalid_params(format!("there is no prompt `{}`", request.name), None));
        };
        let given: Object = bridge::from_client(request.arguments).unwrap_or_default();
        let text = prompt.filled(&given).map_err(|missing| {
            ErrorData::invalid_params(format!("`{}` needs the argument `{missing}`", prompt.name), None)
        })?;
        let messages = vec![PromptMessage::new_text(Role::User, text)];
        Ok(GetPromptResult::new(messages).with_description(prompt.about).into())
    }

    /// Starts change notifications for a client that sent `initialize`; newer clients ask for them with `listen`.
    async fn on_initialized(&self, context: NotificationContext<RoleServer>) {
        let subscribed = Arc::clone(&self.subscribed);
        tokio::spawn(forward(context.peer, self.changes.clone(), subscribed, self.log.clone()));
    }

    #[expect(deprecated, reason = "clients of the older protocol still ask for it")]
    async fn set_level(
        &self,
        request: rmcp::model::SetLevelRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        if speaks_newest(&context) {
            return Err(no_method("logging/setLevel"));
        }
        self.log.set_level(&request);
        Ok(())
    }

    async fn subscribe(
        &self,
        request: SubscribeRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        let mut subscribed = self.subscribed.lock().unwrap_or_else(PoisonError::into_inner);
        if subscribed.len() >= SUBSCRIPTIONS_MAX {
            let what = format!("at most {SUBSCRIPTIONS_MAX} resources can be subscribed to");
            return Err(ErrorData::invalid_params(what, None));
        }
        subscribed.insert(request.uri);
        Ok(())
    }

    async fn unsubscribe(
        &self,
        request: UnsubscribeRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.subscribed.lock().unwrap_or_else(PoisonError::into_inner).remove(&request.uri);
        Ok(())
    }

    fn accepted_subscription_filter(&self, requested: &SubscriptionFilter) -> Option<SubscriptionFilter> {
        Some(requested.clone())
    }

    async fn listen(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        let mut changes = self.changes.subscribe();
        let mut gone = self.gone.subscribe();
        loop {
            let changes = tokio::select! {
                () = context.cancelled() => return Ok(()),
                _ = gone.wait_for(|gone| *gone) => return Ok(()),
                changes = changes.recv() => changes,
            };
            let changes = match changes {
                Ok(changes) => changes,
                Err(RecvError::Lagged(_)) => Arc::new(missed()),
                Err(RecvError::Closed) => return Ok(()),
            };
            tokio::select! {
                _ = gone.wait_for(|gone| *gone) => return Ok(()),
                () = tell(&context, &changes) => {}
            }
        }
    }

    /// A method that we know gets here only if its parameters could not be parsed.
    async fn on_custom_request(
        &self,
        request: CustomRequest,
        context: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        const OURS: [&str; 8] = [
            "server/discover",
            "tools/call",
            "prompts/get",
            "resources/read",
            "subscriptions/listen",
            "tools/list",
            "prompts/list",
            "resources/list",
        ];
        // The newest protocol removed these.
        const OLD: [&str; 4] =
            ["initialize", "resources/subscribe", "resources/unsubscribe", "logging/setLevel"];
        let method = request.method.as_str();
        let known = OURS.contains(&method) || (OLD.contains(&method) && !speaks_newest(&context));
        Err(match known {
            true => {
                ErrorData::invalid_params(format!("invalid parameters: they do not match `{method}`"), None)
            }
            false => no_method(method),
        })
    }
}

fn no_method(method: &str) -> ErrorData {
    ErrorData::new(ErrorCode::METHOD_NOT_FOUND, format!("there is no method `{method}`"), None)
}

/// Whether the request names a protocol version without sessions.
fn speaks_newest(context: &RequestContext<RoleServer>) -> bool {
    let version = context.meta.protocol_version();
    version.is_some_and(|version| version.as_str() >= ProtocolVersion::V_2026_07_28.as_str())
}

fn described(tool: &Tool) -> rmcp::model::Tool {
    // Clients send these tokens with every request: the title is not repeated in the annotations, and `idempotent`
    // is set only for tools that write. No tool is destructive, because every change can be undone.
    let hints = ToolAnnotations::new().destructive(false).open_world(false);
    let hints = match tool.effect {
        ToolEffect::Reads => hints.read_only(true),
        ToolEffect::Writes => hints.read_only(false).idempotent(false),
        ToolEffect::Settles => hints.read_only(false).idempotent(true),
    };
    let mut described =
        rmcp::model::Tool::new(tool.name, tool.about, Arc::new(bridge::schema_to_client(&tool.input())));
    described.title = Some(tool.title.to_owned());
    described.annotations = Some(hints);
    described.output_schema = tool.gives.map(|schema| Arc::new(bridge::schema_to_client(&schema())));
    described
}

fn told_as(token: ProgressToken, progress: ToolProgress) -> ProgressNotificationParam {
    ProgressNotificationParam::new(token, f64::from(progress.done))
        .with_total(f64::from(progress.of))
        .with_message(progress.doing)
}

fn failed(error: &ToolError, voice: ErrorFormat) -> CallToolResult {
    let text = match voice {
        ErrorFormat::Plain => error.text(),
        ErrorFormat::Json => error.document(),
    };
    CallToolResult::error(vec![ContentBlock::text(text)])
}

/// Rejects any cursor: these lists have one page.
fn only_page(request: Option<PaginatedRequestParams>) -> Result<(), ErrorData> {
    match request.and_then(|request| request.cursor) {
        None => Ok(()),
        Some(_) => Err(bad_cursor()),
    }
}

fn bad_cursor() -> ErrorData {
    ErrorData::invalid_params("invalid cursor: pass `nextCursor` unchanged, or omit it", None)
}

fn refused(fault: ResourceError, what: &str) -> ErrorData {
    match fault {
        ResourceError::Cursor => bad_cursor(),
        ResourceError::Missing => {
            let uri = serde_json::json!({ "uri": what });
            ErrorData::resource_not_found(format!("there is no resource {what}"), Some(uri))
        }
        ResourceError::Failure(failure) => ErrorData::internal_error(ToolError::from(&failure).text(), None),
    }
}

/// Notifies a `listen` stream. The sink rejects notifications that the client did not ask for; that is not an
/// error.
async fn tell(context: &SubscriptionContext, changes: &WatchEvent) {
    if changes.listed {
        let _ = context.sink().notify_resource_list_changed().await;
    }
    for address in &changes.updated {
        let _ = context.sink().notify_resource_updated(resources::uri(address)).await;
    }
}

fn worded(warning: &WatchWarning) -> String {
    match warning {
        WatchWarning::Index(failure) => ToolError::from(failure).text(),
        WatchWarning::Model(fault) => format!("{fault}\nhint: {}", fault.hint()),
    }
}

/// Replaces changes that were dropped because the client read too slowly: it lists everything again.
fn missed() -> WatchEvent {
    WatchEvent { listed: true, ..WatchEvent::default() }
}

async fn forward(
    peer: Peer<RoleServer>,
    changes: Sender<Arc<WatchEvent>>,
    subscribed: Arc<Mutex<BTreeSet<String>>>,
    log: ClientLog,
) {
    let mut changes = changes.subscribe();
    while !peer.is_transport_closed() {
        let changes = match changes.recv().await {
            Ok(changes) => changes,
            Err(RecvError::Lagged(_)) => Arc::new(missed()),
            Err(RecvError::Closed) => return,
        };
        if let Some(warning) = &changes.warning {
            log.warn(&peer, &worded(warning)).await;
        }
        if changes.listed {
            let _ = peer.notify_resource_list_changed().await;
        }
        for uri in changes.updated.iter().map(resources::uri) {
            let wanted = subscribed.lock().unwrap_or_else(PoisonError::into_inner).contains(&uri);
            if wanted {
                let _ = peer.notify_resource_updated(ResourceUpdatedNotificationParam::new(uri)).await;
            }
        }
    }
}

//! Examples of the reference, by the definition that they show; a test reads each as what it shows.

/// Definition and YAML.
pub const EXAMPLES: &[(&str, &str)] = &[
    (
        "Source",
        "spec: ../specs/petstore.yaml
overlays: [petstore.overlay.yaml]
base_url: ${env:PETSTORE_URL:-https://petstore.example/v3}
expose: listed
credentials:
  api_key: { value: \"${env:PETSTORE_KEY}\" }
limits: { timeout: 10s, rate: 50/s }",
    ),
    (
        "Credential",
        "grant: client_credentials
token_url: https://login.example/token
client_id: ${env:CLIENT_ID}
client_secret: ${env:CLIENT_SECRET}
scopes: [read]",
    ),
    (
        "Limits",
        "connect_timeout: 5s
timeout: 30s
max_response: 10MiB
retries: 2
breaker: { failures: 10, cooldown: 15s }
redirects: same-origin",
    ),
    (
        "Rule",
        "match: { method: DELETE }
set: { confirm: \"Really {{method}} {{path}}?\" }",
    ),
    ("Match", "method: [GET]\ntag: [pet, store]\npath: /pet/**\noperation: find*\nx-internal: true"),
    (
        "ToolEdits",
        "title: Pet by id
description: Look a pet up by its number.
annotations: { read_only: true }
args: { petId: { rename: id } }
result: { pick: [id, name] }
errors: { path: error.message, hints: { 404: \"No such pet; use find_pets first.\" } }
cache: { ttl: 60s, per: caller }",
    ),
    (
        "ToolRules",
        "operation: getPetById
args: { petId: { rename: id } }
tests:
  - args: { id: 7 }
    request: { method: GET, path: /v3/pet/7 }
    respond: { json: { id: 7, name: Rex } }
    result: { json: { id: 7 } }",
    ),
    ("DescriptionFrom", "from: [summary, description]\nappend: Use find_pets for ids.\nmax_chars: 400"),
    ("ArgumentEdits", "rename: id\ndescription: Number of the pet.\nexamples: [7]\nminimum: 1"),
    (
        "ResultRules",
        "path: items
pick: [id, name, owner]
drop: [\"*.internal\"]
rename: { name: title }
redact: [owner.email]
limit_items: 50
format: table",
    ),
    ("BlockRules", "type: resource\nuri: \"shop://order/{{id}}\"\npath: order\nmime_type: application/json"),
    ("Paginate", "style: cursor\nitems: data\ncursor: meta.next\narg: cursor\nmax_pages: 5\nmax_items: 500"),
    (
        "Poll",
        "status: .state
until: [done, failed]
location: header location
every: 2s
at_most: 10m
progress: .percent / 100",
    ),
    ("StreamRules", "progress: { value: step, total: of }\nlog: { level: level, message: text }"),
    (
        "Ask",
        "message: Who is it for?
schema: { type: object, required: [email], properties: { email: { type: string, format: email } } }
into: email",
    ),
    (
        "HandRequest",
        "method: POST
path: /graphql
body:
  query: \"query($q:String!){ issues(q:$q){ id title } }\"
  variables: { q: \"{{q}}\", first: \"{{first}}\" }",
    ),
    (
        "StepRules",
        "id: project
call: createProject
with: { owner: \"{{customer.id}}\" }
when: \"{{customer.active}}\"
on_error: continue",
    ),
    (
        "ToolTest",
        "name: by number
args: { id: 7 }
request: { method: GET, path: /v3/pet/7, headers: { accept: application/json } }
respond: { status: 200, json: { id: 7, name: Rex } }
result: { json: { id: 7, name: Rex } }",
    ),
    ("ResourceRules", "operation: getPetById\nuri: pets://{petId}\nmime_type: application/json"),
    (
        "PromptRules",
        "description: Looks at a pet.
arguments: [{ name: id, required: true, complete: find_pets }]
messages:
  - { role: user, text: \"Triage pet {{id}}.\" }
  - { role: user, resource: \"pets://{{id}}\" }",
    ),
    ("CatalogRules", "mode: search\npinned: [get_pet]\nname_style: snake\nmax_name: 48"),
];

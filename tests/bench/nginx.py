"""nginx twice: as the upstream that answers a fixed chat completion, and as the reverse proxy that is the floor."""

from pathlib import Path

from tests.bench.processes import Child, Children, require, wait_until_answering

# As small as a real answer gets; one line, since nginx sends it from its configuration.
ANSWER = (
    '{"id":"chatcmpl-bench","object":"chat.completion","created":1764547200,"model":"bench-model","choices":[{"index":0,'
    '"message":{"role":"assistant","content":"Hello from the upstream.","refusal":null},"logprobs":null,'
    '"finish_reason":"stop"}],"usage":{"prompt_tokens":9,"completion_tokens":5,"total_tokens":14}}'
)

_CONFIG = """
daemon off;
worker_processes 1;
pid {folder}/{name}.pid;
error_log stderr error;
events {{ worker_connections 1024; }}
http {{
    access_log off;
    client_body_temp_path {folder}/{name}-body;
    proxy_temp_path {folder}/{name}-proxy;
    fastcgi_temp_path {folder}/{name}-fastcgi;
    uwsgi_temp_path {folder}/{name}-uwsgi;
    scgi_temp_path {folder}/{name}-scgi;
    keepalive_requests 100000000;
    keepalive_timeout 300s;
    default_type application/json;
{body}
}}
"""

_UPSTREAM = """
    server {{
        listen 127.0.0.1:{port} backlog=1024;
        location = /healthz {{ return 200 '{{}}'; }}
        location / {{ return 200 '{answer}'; }}
    }}
"""

_PROXY = """
    upstream plain  {{ server 127.0.0.1:{plain_port}; keepalive 128; keepalive_requests 100000000; }}
    upstream stream {{ server 127.0.0.1:{stream_port}; keepalive 128; keepalive_requests 100000000; }}
    server {{
        listen 127.0.0.1:{port} backlog=1024;
        proxy_http_version 1.1;
        proxy_set_header Connection "";
        location = /healthz {{ return 200 '{{}}'; }}
        location /v1/ {{ proxy_pass http://plain; }}
        location /stream/ {{ proxy_pass http://stream/; proxy_buffering off; }}
    }}
"""


def start_upstream(children: Children, *, port: int, core: int) -> Child:
    """The bare upstream."""
    return _start(children, "nginx-upstream", _UPSTREAM.format(port=port, answer=ANSWER), port=port, core=core)


def start_proxy(children: Children, *, port: int, plain_port: int, stream_port: int, core: int) -> Child:
    """The reverse proxy: `/v1/…` to the plain upstream, `/stream/…` to the streaming one, unbuffered."""
    body = _PROXY.format(port=port, plain_port=plain_port, stream_port=stream_port)
    return _start(children, "nginx-proxy", body, port=port, core=core)


def _start(children: Children, name: str, body: str, *, port: int, core: int) -> Child:
    program = require("nginx", "nginx-light")
    path = Path(children.folder) / f"{name}.conf"
    path.write_text(_CONFIG.format(folder=children.folder, name=name, body=body))
    child = children.start(name, [program, "-c", str(path), "-p", str(children.folder)], core=core)
    wait_until_answering(child, f"http://127.0.0.1:{port}/healthz")
    return child

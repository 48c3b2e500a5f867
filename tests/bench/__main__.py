"""`python -m tests.bench`: start everything, measure, stop everything. docs/benchmarks.md says how to read it."""

import argparse
import os
import signal
import sys
import tempfile
from dataclasses import replace
from pathlib import Path

from tests.bench import gateway as gateways
from tests.bench import measure, nginx, translation
from tests.bench.gateway import ROOT, Gateway
from tests.bench.measure import QUICK, Sizes, Subject
from tests.bench.plain_load import Load
from tests.bench.processes import BenchError, Child, Children, free_port, require, wait_until_answering
from tests.bench.report import (
    GATEWAY,
    NGINX,
    UPSTREAM,
    Report,
    commit,
    machine,
    str_target,
    translation_lines,
    translation_targets,
    write,
)

SERVER_CORE, LOAD_CORE = 0, 1
BUSY = 0.5  # load average above which somebody else is at work


def say(line: str) -> None:
    """Progress, on stderr; the table goes to stdout."""
    sys.stderr.write(line + "\n")


def options(arguments: list[str]) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="one short round of each; for trying out, not for quoting")
    parser.add_argument(
        "--memory", type=int, metavar="N", help="requests before memory is read (100000; 0 leaves it out)"
    )
    parser.add_argument("--seconds", type=float, help="of one round of plain requests (5)")
    parser.add_argument("--no-gateway", action="store_true", help="only the upstream and nginx")
    parser.add_argument("--translation", action="store_true", help="only what translating costs, without any server")
    parser.add_argument("--out", type=Path, default=ROOT / "var" / "bench", help="folder for the JSON (var/bench)")
    running = parser.add_argument_group("a gateway that runs already (its upstreams are its own affair)")
    running.add_argument("--gateway-url", help="http://host:port")
    running.add_argument("--key", default="", help="client key")
    running.add_argument("--model", default="bench", help="chain for plain requests (bench)")
    running.add_argument("--stream-model", default="bench-stream", help="chain for streams (bench-stream)")
    running.add_argument("--pid", type=int, help="its process, for CPU and memory")
    running.add_argument("--upstream-port", type=int, default=0, help="where the plain upstream is to listen")
    running.add_argument("--stream-port", type=int, default=0, help="where the streaming upstream is to listen")
    return parser.parse_args(arguments)


def sizes_of(asked: argparse.Namespace) -> Sizes:
    """How much load was asked for."""
    sizes = QUICK if asked.quick else Sizes()
    if asked.memory is not None:
        sizes = replace(sizes, memory_requests=asked.memory)
    return sizes if asked.seconds is None else replace(sizes, seconds=asked.seconds)


def run(asked: argparse.Namespace, children: Children) -> Report:
    """Start, measure, report. Raises BenchError."""
    sizes = sizes_of(asked)
    load_before = os.getloadavg()[0]
    if load_before > BUSY:
        say(f"warning: the machine is busy already (load average {load_before:.1f}); the figures will show it")
    plain_port, stream_port = asked.upstream_port or free_port(), asked.stream_port or free_port()
    proxy_port = free_port()
    say("measuring the translations in this process")
    translations = translation.measure()
    say("starting the upstreams and nginx")
    upstream = nginx.start_upstream(children, port=plain_port, core=LOAD_CORE)
    streaming = start_stream_upstream(children, port=stream_port, sizes=sizes)
    ports = {"plain_port": plain_port, "stream_port": stream_port}
    proxy = nginx.start_proxy(children, port=proxy_port, core=SERVER_CORE, **ports)
    plain_load, stream_load, proxy_load, proxy_stream_load = (
        load_for(f"http://127.0.0.1:{url}", children)
        for url in (plain_port, stream_port, proxy_port, f"{proxy_port}/stream")
    )
    subjects = [
        Subject(UPSTREAM, plain_load, stream_load, upstream.pid, streaming.pid),
        Subject(NGINX, proxy_load, proxy_stream_load, proxy.pid, proxy.pid),
    ]
    gateway = None if asked.no_gateway else find_gateway(asked, children, ports)
    if gateway:
        subjects.append(gateway_subject(gateway, asked, children))
    plain = measure.plain(subjects, sizes, say)
    streams = measure.streams(subjects, sizes, say)
    memory = None
    if gateway and sizes.memory_requests:
        memory = measure.memory(gateway, subjects[-1].plain, sizes, plain[GATEWAY], say)
    return Report(sizes, plain, streams, memory, load_before, translations)


def load_for(url: str, children: Children) -> Load:
    """Load on the upstream or nginx, which take any model and any key."""
    return Load(f"{url}/v1/chat/completions", "bench-model", "sk-bench", children.folder, LOAD_CORE)


def gateway_subject(gateway: Gateway, asked: argparse.Namespace, children: Children) -> Subject:
    """The gateway, asked by its chains' names."""
    load = Load(f"{gateway.url}/v1/chat/completions", asked.model, gateway.api_key, children.folder, LOAD_CORE)
    return Subject(GATEWAY, load, replace(load, model=asked.stream_model), gateway.pid, gateway.pid)


def find_gateway(asked: argparse.Namespace, children: Children, ports: dict[str, int]) -> Gateway:
    """The gateway named on the command line, else one of our own."""
    if asked.gateway_url:
        return Gateway(asked.gateway_url.rstrip("/"), asked.key, asked.pid)
    say("starting the gateway on a fresh database")
    return gateways.start(children, port=free_port(), core=SERVER_CORE, **ports)


def start_stream_upstream(children: Children, *, port: int, sizes: Sizes) -> Child:
    """The upstream that streams."""
    command = [sys.executable, "-m", "tests.bench.stream_upstream", "--port", str(port)]
    command += ["--events", str(sizes.events), "--gap", str(sizes.gap)]
    child = children.start("stream-upstream", command, core=LOAD_CORE)
    wait_until_answering(child, f"http://127.0.0.1:{port}/healthz")
    return child


def only_translation(folder: Path) -> int:
    """The part that needs nothing but this process."""
    load_before = os.getloadavg()[0]
    found = translation.measure()
    figures = [one.document() for one in found]
    about = {"commit": commit(), "machine": machine() | {"load_before": load_before}}
    path = write(about | {"translations": figures}, folder)
    lines = [*translation_lines(found), "", *map(str_target, translation_targets(found)), "", str(path)]
    sys.stdout.write("\n".join(lines) + "\n")
    return 0


def main(arguments: list[str]) -> int:
    """Exit code 0 when all could be measured; missed targets are said, not punished."""
    asked = options(arguments)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that the children are stopped
    os.chdir(ROOT)
    if asked.translation:
        return only_translation(asked.out)
    try:
        require("nginx", "nginx-light")
        require("wrk", "wrk")
        with tempfile.TemporaryDirectory(prefix="omniroute-bench-") as folder, Children(Path(folder)) as children:
            report = run(asked, children)
    except BenchError as error:
        say(f"bench: {error}")
        return 1
    except KeyboardInterrupt:
        return 130
    path = report.write(asked.out)
    sys.stdout.write(f"{report.table()}\n\n{path}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

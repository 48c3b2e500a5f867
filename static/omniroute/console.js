/* The console's only script: countdowns, the connection pill, keys. Nothing here is needed to see or to act. */
"use strict";
(() => {
  const HEARTBEAT = 15_000; // ms without a word from an open socket before it counts as dead (the server speaks each 5 s)
  const GIVE_UP = 12_000; // ms of reconnecting before the page calls itself stale
  let skew = 0; // the server's clock minus ours, ms
  let lastNews = Date.now();
  let connected = false;
  let signedOut = false;
  const one = (selector) => document.querySelector(selector);
  const all = (selector) => document.querySelectorAll(selector);
  const say = (element, text) => { if (element.textContent !== text) element.textContent = text; };
  const serverNow = () => Date.now() + skew;

  // countdowns, from absolute times

  const two = (number) => String(number).padStart(2, "0");
  function remaining(ms) {
    const s = Math.ceil(ms / 1000);
    if (s < 3600) return `${Math.floor(s / 60)}:${two(s % 60)}`;
    if (s < 172_800) return `${Math.floor(s / 3600)}:${two(Math.floor(s % 3600 / 60))} h`;
    return `${Math.floor(s / 86_400)} d`;
  }
  function ago(ms) {
    const s = Math.max(0, Math.floor(ms / 1000));
    if (s < 120) return `${s} s ago`;
    if (s < 7200) return `${Math.floor(s / 60)} min ago`;
    if (s < 172_800) return `${Math.floor(s / 3600)} h ago`;
    return `${Math.floor(s / 86_400)} d ago`;
  }
  function tick() {
    const now = serverNow();
    for (const time of all("time[data-until]")) {
      const left = Date.parse(time.dataset.until) - now;
      say(time, left > 0 ? time.dataset.lead + remaining(left) : time.dataset.done);
    }
    for (const time of all("time[data-since]")) say(time, ago(now - Date.parse(time.dataset.since)));
    for (const bar of all("progress[data-drain]")) bar.value = Math.max(0, (Date.parse(bar.dataset.drain) - now) / 1000);
    showPill();
  }

  // the connection pill

  function showPill() {
    const pill = one("#pill");
    if (!pill) return;
    const silent = Date.now() - lastNews;
    let state = "live";
    if (signedOut || silent > HEARTBEAT || (!connected && silent > GIVE_UP)) state = "stale";
    else if (!connected) state = "reconnecting";
    const at = new Date(lastNews + skew).toISOString();
    const words = { live: "Live", reconnecting: "Reconnecting", stale: `Stale since ${at.slice(11, 16)}` };
    if (pill.dataset.live !== state) pill.dataset.live = state;
    say(pill.querySelector("[data-pill-text]"), words[state]);
    const title = `Last news ${at.slice(0, 19).replace("T", " ")} UTC`;
    if (pill.title !== title) pill.title = title;
  }
  function heard() {
    lastNews = Date.now();
    const clock = one("#server-clock");
    if (clock) skew = Date.parse(clock.dataset.now) - Date.now();
  }
  function mirrorTitle() {
    const verdict = one("[data-title]");
    if (verdict && document.title !== verdict.dataset.title) document.title = verdict.dataset.title;
  }
  document.addEventListener("htmx:wsOpen", () => { connected = true; signedOut = false; lastNews = Date.now(); showPill(); });
  document.addEventListener("htmx:wsAfterMessage", () => { heard(); mirrorTitle(); refocus(); tick(); });
  document.addEventListener("htmx:wsClose", (event) => {
    connected = false;
    const { code } = event.detail.event;
    signedOut = code === 4401;
    showPill();
    const retriedByHtmx = [1006, 1011, 1012, 1013].includes(code);
    if (!signedOut && !retriedByHtmx) setTimeout(event.detail.socketWrapper.reconnect, reconnectAfter(1));
  });
  const reconnectAfter = (tries) => Math.min(5000, 250 * 2 ** Math.min(tries, 5)) * (0.6 + 0.4 * Math.random());
  if (window.htmx) htmx.config.wsReconnectDelay = reconnectAfter;

  // the focus stays where it was, in a browser that cannot move a node without dropping it

  let focused = "";
  document.addEventListener("htmx:oobBeforeSwap", (event) => {
    const active = document.activeElement;
    if (active && active.id && event.detail.target.contains(active)) focused = active.id;
  });
  function refocus() {
    const lost = document.activeElement === document.body || document.activeElement === null;
    if (focused && lost) document.getElementById(focused)?.focus({ preventScroll: true });
    focused = "";
  }

  document.addEventListener("console:focus", (event) => document.getElementById(event.detail.id)?.focus());

  document.addEventListener("focusin", (event) => { if (event.target.matches("[data-secret]")) event.target.select(); });

  // answers and failures of htmx requests

  document.addEventListener("htmx:afterSwap", () => { if (!document.querySelector("#pill")) return; mirrorTitle(); });
  document.addEventListener("htmx:afterSettle", () => { refocus(); tick(); });
  document.addEventListener("htmx:afterRequest", (event) => { if (event.detail.successful) showFailure(""); });
  document.addEventListener("htmx:responseError", (event) => {
    const { status } = event.detail.xhr;
    const why = status === 403 ? "You may not do this." : status === 404 ? "It is not there any more." : `The server failed (${status}).`;
    showFailure(`${why} Nothing was changed.`);
  });
  document.addEventListener("htmx:sendError", (event) => {
    if (event.detail.elt.id !== "net") showFailure("The server could not be reached. Nothing was changed as far as this page knows.");
  });
  function showFailure(text) {
    const place = one("#failure");
    if (!place) return;
    place.hidden = !text;
    say(place, text);
    if (text) say(one("#announce"), text);
  }

  // entries of a chain by mouse: the buttons beside them do the same

  let dragged = null;
  document.addEventListener("dragstart", (event) => {
    dragged = event.target.closest?.("li[draggable]");
    dragged?.setAttribute("data-dragging", "");
  });
  document.addEventListener("dragover", (event) => {
    const over = dragged && event.target.closest("li[draggable]");
    if (!over || over.parentElement !== dragged.parentElement) return;
    event.preventDefault();
    const after = event.clientY > over.getBoundingClientRect().top + over.offsetHeight / 2;
    if (over !== dragged) over[after ? "after" : "before"](dragged);
  });
  document.addEventListener("dragend", () => {
    if (!dragged) return;
    dragged.removeAttribute("data-dragging");
    dragged.parentElement.querySelectorAll(".place").forEach((place, index) => say(place, String(index + 1)));
    dragged.dispatchEvent(new Event("change", { bubbles: true }));
    dragged = null;
  });

  // keys

  const PAGES = { b: "/", c: "/chains/", p: "/providers/", r: "/requests/", x: "/explain/", l: "/lockouts/", e: "/events/" };
  const STOPS = "[data-provider] h3 a, [data-chain] h2 a, [data-request] a.id";
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const typing = event.target.closest("input, select, textarea");
    if (event.key === "Escape") {
      const cancel = event.target.closest("form")?.querySelector("[data-cancel]");
      if (cancel) cancel.click();
    } else if (typing || document.querySelector("dialog[open]")) {
      return;
    } else if (event.key === "?") {
      one("#help")?.showModal();
    } else if (PAGES[event.key] && one(".bar nav")) {
      location.assign(PAGES[event.key]);
    } else if (event.key === "j" || event.key === "k") {
      step(event.key === "j" ? 1 : -1);
    }
  });
  function step(by) {
    const stops = [...all(STOPS)];
    if (!stops.length) return;
    const box = (element) => element.closest("[data-provider], [data-chain], [data-request]");
    const here = stops.findIndex((stop) => box(stop) === box(document.activeElement));
    const next = here < 0 ? (by > 0 ? 0 : stops.length - 1) : Math.min(stops.length - 1, Math.max(0, here + by));
    stops[next].focus();
  }

  document.addEventListener("DOMContentLoaded", () => {
    heard();
    tick();
    one(".bar nav [aria-current]")?.scrollIntoView({ inline: "center", block: "nearest" }); // on a narrow screen it scrolls
  });
  setInterval(tick, 250);
})();
